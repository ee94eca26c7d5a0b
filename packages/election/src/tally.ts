import type { PeerRole, ServerId, Vote } from "@zooid/model";

/** A server's newest vote, and its role then. */
export interface Ballot {
  readonly vote: Vote;
  readonly role: PeerRole;
}

/**
 * The newest ballot of each server. There are two in an election: the votes of its round, where
 * agreement means equal in everything, and the votes of servers that have decided, whatever their
 * round, where leader and epoch are enough.
 */
export class Tally {
  readonly #agrees: (a: Vote, b: Vote) => boolean;
  readonly #ballots = new Map<ServerId, Ballot>();

  constructor(agrees: (a: Vote, b: Vote) => boolean) {
    this.#agrees = agrees;
  }

  /** Takes the place of an earlier ballot of this server. */
  cast(sid: ServerId, ballot: Ballot): void {
    this.#ballots.set(sid, ballot);
  }

  withdraw(sid: ServerId): void {
    this.#ballots.delete(sid);
  }

  clear(): void {
    this.#ballots.clear();
  }

  /** The servers that agree with a vote. Whether they are enough is decided by the quorum. */
  supporters(vote: Vote): Set<ServerId> {
    const supporters = new Set<ServerId>();
    for (const [sid, ballot] of this.#ballots) if (this.#agrees(ballot.vote, vote)) supporters.add(sid);
    return supporters;
  }

  /** The server itself was heard to say that it leads. */
  saysItLeads(sid: ServerId): boolean {
    return this.#ballots.get(sid)?.role === "leading";
  }
}
