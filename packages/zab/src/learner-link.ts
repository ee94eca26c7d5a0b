import type { LinkRef, ServerId, ZabMessage, Zxid } from "@zooid/model";

export type LearnerInfo = Extract<ZabMessage, { kind: "learner-info" }>;
export type AckEpoch = Extract<ZabMessage, { kind: "ack-epoch" }>;

/**
 * How far a learner has come with its leader:
 *
 * ```
 * informed ─▶ invited ─▶ waiting ─▶ planning ─▶ snapshot ─▶ syncing ─▶ accepting ─▶ accepted ─▶ level
 *  (info)    (epoch sent) (ack-epoch)   │                     ▲        (new-leader   (its ack)   (up-to-date
 *                                       └─────────────────────┘            sent)                      sent)
 * ```
 */
export type LearnerPhase =
  | "informed"
  | "invited"
  | "waiting"
  | "planning"
  | "snapshot"
  | "syncing"
  | "accepting"
  | "accepted"
  | "level";

/** What a leader knows of one learner. */
export class LearnerLink {
  readonly link: LinkRef;
  readonly sid: ServerId;
  readonly info: LearnerInfo;
  phase: LearnerPhase = "informed";
  /** A voter that has all it ever promised and acked: it may be counted. */
  isCounted: boolean;
  /** It gets committed entries only. */
  readonly isObserver: boolean;
  position: AckEpoch | undefined;
  /** The last entry sent. A position of the log, or the epoch's start marker once the history is behind it. */
  sent: Zxid;
  /** The end of the history that its new-leader names. */
  through: Zxid | undefined;
  /** What it has on disk, by its own word. */
  acked: Zxid;
  /** The last round of confirmation it answered. */
  round = 0;
  /** The round of confirmation in which it was offered the epoch: accepting it answers that one too. */
  offeredRound = 0;
  /** The round of confirmation without which it must not get its voice back; undefined where it has one. */
  voiceRound: number | undefined;
  /** The commit point it was last told. */
  announced: Zxid;
  applied: Zxid;
  heardMs: number;
  /** When what is on its way began to wait for an ack. */
  waitingSinceMs: number;
  /** When entries were last sent. */
  sentMs: number;
  /** When it last passed a client's request on. */
  askedMs: number = Number.NEGATIVE_INFINITY;
  isReading = false;
  readonly #onTheirWay: { readonly last: Zxid; readonly bytes: number }[] = [];
  #inFlightBytes = 0;

  constructor(parts: {
    readonly link: LinkRef;
    readonly sid: ServerId;
    readonly info: LearnerInfo;
    readonly isCounted: boolean;
    readonly isObserver: boolean;
    readonly nothing: Zxid;
    readonly nowMs: number;
  }) {
    this.link = parts.link;
    this.sid = parts.sid;
    this.info = parts.info;
    this.isCounted = parts.isCounted;
    this.isObserver = parts.isObserver;
    this.sent = parts.nothing;
    this.acked = parts.nothing;
    this.announced = parts.nothing;
    this.applied = parts.nothing;
    this.heardMs = parts.nowMs;
    this.waitingSinceMs = parts.nowMs;
    this.sentMs = parts.nowMs;
  }

  /** Bytes sent and not yet known to be on its disk. */
  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  get isWaiting(): boolean {
    return this.#onTheirWay.length > 0;
  }

  /** Whether it is past synchronization: it acks what it gets. */
  get hasAccepted(): boolean {
    return this.phase === "accepted" || this.phase === "level";
  }

  /** Whether entries flow to it. */
  get isStreaming(): boolean {
    return this.phase === "syncing" || this.phase === "accepting" || this.hasAccepted;
  }

  sending(last: Zxid, bytes: number, nowMs: number): void {
    if (this.#onTheirWay.length === 0) this.waitingSinceMs = nowMs;
    this.sentMs = nowMs;
    this.#onTheirWay.push({ last, bytes });
    this.#inFlightBytes += bytes;
    this.sent = last;
  }

  /** Entries up to here are on its disk. */
  arrived(through: Zxid, nowMs: number): void {
    let count = 0;
    for (const { last, bytes } of this.#onTheirWay) {
      if (last > through) break;
      this.#inFlightBytes -= bytes;
      count++;
    }
    if (count === 0) return;
    this.#onTheirWay.splice(0, count);
    this.waitingSinceMs = nowMs;
  }
}
