import { assert, type ServerId } from "@zooid/model";
import type { FencedLog } from "./fenced-log.ts";
import type { KnownMembers } from "./known-members.ts";
import type { Leader } from "./leader/leader.ts";
import type { Learner } from "./learner/learner.ts";
import type { RoleEnd } from "./operator-events.ts";
import type { AllSinks } from "./sinks.ts";

/** The role of a peer. */
export type PeerState = "looking" | "leading" | "following" | "observing";

/**
 * One role after another, with an election or a named successor between them.
 *
 * Each role has a generation; a completion that names an older one changes nothing. A new role
 * begins only when no write of the old one is under way: the election uses what the disk holds.
 *
 * 1. S1 follows S3 and appends entry 7; S3 dies while the disk still writes.
 * 2. S1 votes with entry 6.
 * 3. The write completes, so S1's log ends with entry 7, and it follows or leads with a history
 *    that it did not vote for.
 */
export class RoleCycle {
  readonly #log: FencedLog;
  readonly #members: KnownMembers;
  readonly #sinks: AllSinks;
  // Fields, since every input reads them; this class alone sets them.
  /** The role in force; undefined between two roles. */
  role: Leader | Learner | undefined;
  /** The same where it leads, and where it follows or observes. */
  leading: Leader | undefined;
  following: Learner | undefined;
  #state: Exclude<PeerState, "observing"> = "looking";
  /** Whether {@link ZabElection.look} was called for the present wait. */
  #isLooking = false;
  #successor: { readonly sid: ServerId; readonly namedBy: ServerId | undefined } | undefined;
  #isStopped = false;

  constructor(log: FencedLog, members: KnownMembers, sinks: AllSinks) {
    this.#log = log;
    this.#members = members;
    this.#sinks = sinks;
  }

  get state(): PeerState {
    // A change of the configuration gives a learner a vote, or takes it, while it follows.
    return this.#state === "following" && this.#members.isObserver ? "observing" : this.#state;
  }

  /** Whether an election was asked for and has not decided yet. */
  get isLooking(): boolean {
    return this.#isLooking && this.role === undefined;
  }

  lead(leader: Leader): void {
    this.#begin("leading", leader);
    this.leading = leader;
  }

  follow(learner: Learner): void {
    this.#begin("following", learner);
    this.following = learner;
  }

  #begin(state: "leading" | "following", role: Leader | Learner): void {
    assert(this.role === undefined && this.#log.isQuiet, "a role begins when the one before has ended");
    this.#state = state;
    this.#isLooking = false;
    this.#log.nextGeneration();
    this.role = role;
  }

  leave(reason: RoleEnd): void {
    const { role } = this;
    if (role === undefined) return;
    this.role = undefined;
    this.leading = undefined;
    this.following = undefined;
    this.#state = "looking";
    this.#successor = undefined;
    this.#log.nextGeneration();
    role.end(reason);
    this.#sinks.roles.left(reason);
  }

  /** The leader resigned in favour of another server, which is adopted without an election. */
  leaveTo(successor: ServerId, reason: RoleEnd = { kind: "leader-handed-over" }): void {
    const namedBy = this.following?.leader;
    this.leave(reason);
    this.#successor = { sid: successor, namedBy };
  }

  /** Leaves, and no role follows. */
  stop(): void {
    this.#isStopped = true;
    this.leave({ kind: "stopped" });
  }

  /**
   * Without a role, and once the log is quiet: asks for one.
   *
   * @returns whether an election was asked for
   */
  settle(): boolean {
    if (this.role !== undefined || this.#isLooking || this.#isStopped || !this.#log.isQuiet) return false;
    this.#isLooking = true;
    const successor = this.#successor;
    this.#successor = undefined;
    if (successor !== undefined) {
      this.#sinks.election.successor(successor.sid, successor.namedBy);
      return false;
    }
    this.#sinks.election.look();
    return true;
  }
}
