import {
  assert,
  type DiskRoom,
  type LinkRef,
  type Members,
  type ServerId,
  type StandbyReport,
  type ZabMessage,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { decodeMembers } from "../known-members.ts";

export type LearnerInfo = Extract<ZabMessage, { kind: "learner-info" }>;
export type AckEpoch = Extract<ZabMessage, { kind: "ack-epoch" }>;

/**
 * How far a learner has come with its leader:
 *
 * ```
 * informed ─▶ invited ─▶ waiting ─▶ planning ─▶ snapshot ─▶ syncing ─▶ accepting ─▶ accepted ─▶ synced
 * (learner-  (leader-   (ack-epoch     │                     ▲        (new-leader  (its ack)  (up-to-date
 *   info)     info sent)  came)        └─────────────────────┘            sent)                    sent)
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
  | "synced";

/**
 * The state of one learner on one link, as its leader knows it. Its phase changes here only, one
 * method for each arrow.
 *
 * Invariant: `position` is known from `waiting` on, `through` from `syncing` on.
 * Invariant: acked ≤ sent, in positions of the epoch's stream; entries between them are in flight.
 * Invariant: a learner that is whole stays whole while its link lasts.
 */
export class LearnerHandler {
  readonly link: LinkRef;
  readonly sid: ServerId;
  readonly info: LearnerInfo;
  /**
   * The list in its files; undefined for a server that counts by that list, as version 0.1.0 does.
   */
  readonly list: Members | undefined;
  #phase: LearnerPhase = "informed";
  #isObserver: boolean;
  #isWhole: boolean;
  #position: AckEpoch | undefined;
  #sent: Zxid = ZXID_NONE;
  #through: Zxid | undefined;
  #acked: Zxid = ZXID_NONE;
  /** The newest leadership check that it answered. */
  check = 0;
  /** The newest leadership check when new-leader was sent: accepting answers that one too. */
  #offeredCheck = 0;
  /**
   * The leadership check that must succeed before its amnesia may end; undefined for one that is
   * whole, and once it is offered the epoch.
   */
  voteCheck: number | undefined;
  /** The commit point last sent to it. */
  announced: Zxid = ZXID_NONE;
  applied: Zxid = ZXID_NONE;
  heardMs: number;
  /** On its disk, as far as it has reported. */
  room: DiskRoom = "enough";
  /** The state of another ensemble that it has ready, as far as it has reported. */
  standby: StandbyReport | undefined;
  /** When it last forwarded a client's request. */
  askedMs: number = Number.NEGATIVE_INFINITY;
  /** Entries are being read from the log for it. */
  isReading = false;
  #sentMs: number;
  #waitingSinceMs: number;
  /**
   * Its history is whole, and another disk has taken the place of this one: entries that the server
   * has acked since are missing. It is counted once it is synchronized and its disk is named again,
   * see `VoterDisks`.
   */
  #isOldDisk: boolean;
  readonly #inFlight: { readonly last: Zxid; readonly bytes: number }[] = [];
  #inFlightBytes = 0;

  constructor(parts: {
    readonly link: LinkRef;
    readonly sid: ServerId;
    readonly info: LearnerInfo;
    readonly isWhole: boolean;
    readonly isOldDisk: boolean;
    readonly isObserver: boolean;
    readonly nowMs: number;
  }) {
    this.link = parts.link;
    this.sid = parts.sid;
    this.info = parts.info;
    this.list = parts.info.list === undefined ? undefined : decodeMembers(parts.info.list);
    this.#isWhole = parts.isWhole;
    this.#isOldDisk = parts.isOldDisk;
    this.#isObserver = parts.isObserver;
    this.heardMs = parts.nowMs;
    this.#waitingSinceMs = parts.nowMs;
    this.#sentMs = parts.nowMs;
  }

  get phase(): LearnerPhase {
    return this.#phase;
  }

  /** It gets committed entries only, and no quorum counts it. */
  get isObserver(): boolean {
    return this.#isObserver;
  }

  /**
   * It has all that it ever promised and acked. Once it has accepted the history its disk says so,
   * too: if a change makes it a voter, later leaders count it.
   */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get isOldDisk(): boolean {
    return this.#isOldDisk;
  }

  /** A voter that is whole: it may be part of a quorum. */
  get isCounted(): boolean {
    return this.#isWhole && !this.#isObserver;
  }

  /** Its history, as its ack-epoch reported it. */
  get position(): AckEpoch | undefined {
    return this.#position;
  }

  /**
   * The last entry sent: an entry of the history, or the epoch's start marker once the history is
   * behind it.
   */
  get sent(): Zxid {
    return this.#sent;
  }

  /** The end of the history that its new-leader names. */
  get through(): Zxid | undefined {
    return this.#through;
  }

  /** The last entry that it reported durable. */
  get acked(): Zxid {
    return this.#acked;
  }

  /** When entries were last sent. */
  get sentMs(): number {
    return this.#sentMs;
  }

  /** Bytes sent and not yet reported durable. */
  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  get isWaiting(): boolean {
    return this.#inFlight.length > 0;
  }

  /** Since when entries in flight wait for an ack. */
  get waitingSinceMs(): number {
    return this.#waitingSinceMs;
  }

  /** Whether it installed the history: from then on it acks entries. */
  get hasAccepted(): boolean {
    return this.#phase === "accepted" || this.#phase === "synced";
  }

  /** Whether entries are sent to it. */
  get isStreaming(): boolean {
    return this.#phase === "syncing" || this.#phase === "accepting" || this.hasAccepted;
  }

  becomeInvited(): void {
    assert(this.#phase === "informed", "the epoch is named once");
    this.#phase = "invited";
  }

  becomeWaiting(position: AckEpoch): void {
    assert(this.#phase === "invited", "a learner reports its position once");
    this.#phase = "waiting";
    this.#position = position;
  }

  becomePlanning(): AckEpoch {
    assert(this.#phase === "waiting" && this.#position !== undefined, "a plan follows the learner's position");
    this.#phase = "planning";
    return this.#position;
  }

  becomeSnapshot(): void {
    assert(this.#phase === "planning", "a snapshot is sent by a plan");
    this.#phase = "snapshot";
  }

  /** Entries after `sent` follow; with those up to `through` it has the history. */
  becomeSyncing(sent: Zxid, through: Zxid): void {
    assert(this.#phase === "planning" || this.#phase === "snapshot", "entries follow a plan");
    this.#phase = "syncing";
    this.#sent = sent;
    this.#through = through;
  }

  becomeAccepting(check: number): void {
    assert(this.#phase === "syncing", "new-leader follows the history's entries");
    this.#phase = "accepting";
    this.#offeredCheck = check;
  }

  /**
   * It has the history on its disk, and with it the end of its amnesia. If it is a voter, it is
   * counted from now on.
   */
  becomeAccepted(): void {
    assert(this.#phase === "accepting" && this.#through !== undefined, "a learner accepts what it was offered");
    this.#phase = "accepted";
    this.#acked = this.#through;
    // rule: an-old-disk-waits-for-its-name
    this.#isWhole ||= !this.#isOldDisk;
  }

  /** An old disk is synchronized, and a configuration that names it was committed without it. */
  becomeNamed(): void {
    assert(this.#isOldDisk && this.hasAccepted, "an old disk is named once it has the history");
    this.#isOldDisk = false;
    this.#isWhole = true;
  }

  /**
   * It has a vote and no history, and no other voter has any: there is nothing that it could have
   * forgotten.
   */
  becomeWhole(): void {
    assert(this.#phase === "informed", "a server without a history is counted before the epoch is named");
    this.#isWhole = true;
  }

  /** The configuration gives it a vote, or takes it. What it has promised and logged stays. */
  setVote(hasVote: boolean): void {
    this.#isObserver = !hasVote;
  }

  becomeSynced(committed: Zxid): void {
    assert(this.#phase === "accepted", "up-to-date is sent once");
    this.#phase = "synced";
    this.announced = committed;
  }

  /**
   * Its acceptance answers every leadership check up to the one that was newest when the epoch was
   * offered.
   */
  answerOfferedCheck(): void {
    this.check = Math.max(this.check, this.#offeredCheck);
  }

  sending(last: Zxid, bytes: number, nowMs: number): void {
    if (this.#inFlight.length === 0) this.#waitingSinceMs = nowMs;
    this.#sentMs = nowMs;
    this.#inFlight.push({ last, bytes });
    this.#inFlightBytes += bytes;
    this.#sent = last;
  }

  /** It has acked everything up to `durable`. */
  ack(durable: Zxid): void {
    this.#acked = durable;
    this.arrived(durable, this.heardMs);
  }

  /** Entries up to here need no room in its window any more. */
  arrived(through: Zxid, nowMs: number): void {
    let count = 0;
    for (const { last, bytes } of this.#inFlight) {
      if (last > through) break;
      this.#inFlightBytes -= bytes;
      count++;
    }
    if (count === 0) return;
    this.#inFlight.splice(0, count);
    this.#waitingSinceMs = nowMs;
  }
}
