import {
  assert,
  type EntriesMessage,
  type LinkRef,
  type PeerMessage,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { LeaderFault, LeaderRefusal } from "../operator-events.ts";
import type { RoleContext } from "../role.ts";
import { sendRefusal } from "../sinks.ts";

/** A leader's window may be larger than this server's, and its last run goes beyond it. */
const UNACKED_WINDOWS = 4;

/**
 * How far a learner has come:
 *
 * ```
 * dialing ─▶ asking ─▶ promising ─▶ promised ─▶ staging ─▶ installing ─▶ accepted ─▶ synced
 * (no link)  (learner-  (promise     (ack-epoch   (sync-     (new-leader   (acked)     (up-to-date
 *             info)      being        sent)        begin      came)                     came)
 *                        written)                  came)
 * ```
 */
export type LearnerStep =
  | "dialing"
  | "asking"
  | "promising"
  | "promised"
  | "staging"
  | "installing"
  | "accepted"
  | "synced";

/**
 * A learner's link to its leader, and how far it has come on it. The step changes here only, one
 * method for each arrow.
 *
 * Invariant: there is a link from `asking` on, and an epoch from `promising` on.
 * Invariant: `logged` is the last entry that came on this link; entries come without gaps.
 */
export class LeaderLink {
  readonly leader: ServerId;
  readonly #context: RoleContext;
  #step: LearnerStep = "dialing";
  #link: LinkRef | undefined;
  #epoch = 0;
  #logged: Zxid = ZXID_NONE;
  #announced: Zxid = ZXID_NONE;
  #check = 0;
  /** Runs that came and are not on the disk. */
  readonly #unstored: { readonly last: Zxid; readonly bytes: number }[] = [];
  #unstoredBytes = 0;
  /** Whether writes that add data are to be refused, as far as the leader has reported. */
  lacksRoom = false;
  /** When the leader was last heard from. */
  heardMs: number;

  constructor(context: RoleContext, leader: ServerId) {
    this.#context = context;
    this.leader = leader;
    this.heardMs = context.nowMs();
  }

  get step(): LearnerStep {
    return this.#step;
  }

  get link(): LinkRef | undefined {
    return this.#link;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The end of what was staged, and from the installation on the end of what was logged. */
  get logged(): Zxid {
    return this.#logged;
  }

  /** The commit point that the leader reported; it may lie beyond what has come. */
  get announced(): Zxid {
    return this.#announced;
  }

  /** The newest leadership check that the leader named. */
  get check(): number {
    return this.#check;
  }

  /**
   * Whether the log is the leader's: all of the history has come, and its installation was asked
   * for.
   */
  get hasInstalled(): boolean {
    return this.#step === "installing" || this.#step === "accepted" || this.#step === "synced";
  }

  becomeAsking(link: LinkRef): void {
    assert(this.#step === "dialing", "a learner dials its leader once");
    this.#step = "asking";
    this.#link = link;
    this.heardMs = this.#context.nowMs();
  }

  becomePromising(epoch: number): void {
    assert(this.#step === "asking", "a learner promises one epoch in a role");
    this.#step = "promising";
    this.#epoch = epoch;
  }

  becomePromised(): void {
    assert(this.#step === "promising", "ack-epoch follows the promise");
    this.#step = "promised";
  }

  /** Entries after `from` are to come. */
  becomeStaging(from: Zxid): void {
    assert(this.#step === "promised", "a stage follows ack-epoch");
    this.#step = "staging";
    this.#logged = from;
  }

  becomeInstalling(): void {
    assert(this.#step === "staging", "a staged history is installed");
    this.#step = "installing";
  }

  becomeAccepted(): void {
    assert(this.#step === "installing", "ack-new-leader follows the installation");
    this.#step = "accepted";
  }

  becomeSynced(): void {
    assert(this.#step === "accepted", "up-to-date follows ack-new-leader");
    this.#step = "synced";
  }

  /**
   * Entries came, which go to the disk. A leader sends no more than its window ahead of acks; the
   * disk of one that lies would be a queue in memory.
   *
   * @returns false if that is too much: the role has ended
   */
  received({ last, start, end }: EntriesMessage): boolean {
    const bytes = end - start;
    if (this.#unstoredBytes > UNACKED_WINDOWS * this.#context.config.windowBytes) {
      this.fault({ kind: "too-far-ahead", bytes: this.#unstoredBytes + bytes });
      return false;
    }
    this.#logged = last;
    this.#unstored.push({ last, bytes });
    this.#unstoredBytes += bytes;
    return true;
  }

  /** Entries up to here are on the disk. */
  stored(through: Zxid): void {
    let count = 0;
    for (const { last, bytes } of this.#unstored) {
      if (last > through) break;
      this.#unstoredBytes -= bytes;
      count++;
    }
    this.#unstored.splice(0, count);
  }

  noteCommitted(committed: Zxid): void {
    if (committed > this.#announced) this.#announced = committed;
    // Before the installation the configuration that was seen last is this server's own, and may be
    // one that the leader's history does not have.
    if (this.#step === "accepted" || this.#step === "synced") this.#context.commitMembers(this.#announced);
  }

  noteCheck(check: number): void {
    this.#check = Math.max(this.#check, check);
  }

  send(message: PeerMessage): void {
    if (this.#link !== undefined) this.#context.sinks.links.send(this.#link, message);
  }

  /** This server cannot follow the leader, which learns why; the role ends. */
  refuse(reason: "unable" | "diverged" | "epoch-low" | "level", why: LeaderRefusal): void {
    if (this.#link !== undefined) sendRefusal(this.#context.sinks.links, this.#link, reason, why);
    if (reason === "diverged") this.#context.lostHistory.diverged(this.leader);
    this.#context.leave(why);
  }

  /** A message that the leader must not send in this step. */
  illegal(message: PeerMessage): void {
    this.fault({ kind: "out-of-turn", message: message.kind, step: this.#step });
  }

  fault(fault: LeaderFault["fault"]): void {
    this.#context.leave({ kind: "illegal-message", sid: this.leader, fault });
  }

  /** @returns whether it was this link that closed */
  closed(link: LinkRef): boolean {
    if (link !== this.#link) return false;
    this.#link = undefined;
    return true;
  }
}
