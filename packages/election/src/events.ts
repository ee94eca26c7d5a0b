import type { ElectionMessage, PeerRole, ServerId, Vote, Zxid } from "@zooid/model";

/** A server's own durable log, as it stands when it begins to look for a leader. */
export interface ElectionPosition {
  /** The last logged entry; never an epoch's start marker. */
  readonly zxid: Zxid;
  readonly currentEpoch: number;
}

/** The outputs of an election. */
export interface ElectionSinks {
  /**
   * To another server; the newest message is all that matters, and it may be lost. Never called for
   * the server itself.
   */
  send(to: ServerId, message: ElectionMessage): void;
  /**
   * It is decided: lead, or follow or observe `vote.leader`. Called at most once for each
   * {@link LeaderElection.look}, from within `look`, `receive` or `tick`, as the last thing these
   * do: it may look again at once.
   */
  decided(role: Exclude<PeerRole, "looking">, vote: Vote): void;
}

/**
 * Finds a server that is worth being tried as leader: one whose log is maximal among a quorum, or
 * the one that leads already. It is a hint: discovery and synchronization decide, and if they fail,
 * this is asked again.
 *
 * Time comes as an argument, in whole milliseconds of a monotonic clock, and never goes back.
 * Randomness is a function handed in.
 */
export interface LeaderElection {
  readonly role: PeerRole;
  /** The logical clock. */
  readonly round: number;
  readonly vote: Vote | undefined;
  /**
   * After a decision: its supporters, this server included, without those that were since heard to
   * look for another leader, or whose connection has ended. Empty while looking. A leader that is
   * not yet established, and whose supporters and learners together are no quorum, cannot become
   * established.
   */
  readonly supporters: ReadonlySet<ServerId>;
  /**
   * Begins to look for a leader. Ends every earlier decision. A server that is alone in its
   * ensemble has decided when this returns.
   *
   * @param position undefined for a server without a vote: an observer, a stranger to the
   *   configuration, or one that lost its storage. It asks, and finds the leader that others have;
   *   from the second time on it waits a little before it asks, since all observers lose their
   *   leader at the same moment.
   * @param nominee a candidate without a vote of its own, whose log was seen: this server begins
   *   with a vote for it, if it has a vote and the nominee's log is ahead
   */
  look(position: ElectionPosition | undefined, nowMs: number, nominee?: Vote): void;
  /**
   * Skips the election: a leader that goes has named its successor. As if this had been decided,
   * but {@link ElectionSinks.decided} is not called.
   *
   * It is also how a server that had lost its storage, and observed, becomes a voter that follows:
   * others count it only then.
   */
  adopt(role: Exclude<PeerRole, "looking">, vote: Vote): void;
  /**
   * Until a time this server does not follow a leader that others have, since it has refused to. It
   * continues to look, and votes: it would follow the same leader again at once.
   */
  avoid(leader: ServerId, untilMs: number): void;
  /**
   * The leader is established: from now on members report its epoch, so that all report the same.
   * Only when decided.
   */
  established(epoch: number): void;
  /** A message, in any role: a server that has decided answers those that look. */
  receive(from: ServerId, message: ElectionMessage, nowMs: number): void;
  /** A connection to a server came about: what was sent last may have died with the old one. */
  linkUp(sid: ServerId, nowMs: number): void;
  /**
   * The connection to a server has ended, and no other one replaces it: this server does not wait
   * for its support any more.
   */
  linkDown(sid: ServerId): void;
  /** How long a message there and back takes, as measured by the links. */
  measured(sid: ServerId, roundTripMs: number): void;
  /**
   * Does what is due. Harmless when nothing is. Messages that have arrived go first: one may be the
   * better vote.
   */
  tick(nowMs: number): void;
  /** When {@link tick} has something to do; undefined when never. */
  nextDueMs(): number | undefined;
}
