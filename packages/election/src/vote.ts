import { assert, counterOf, type ServerId, type Vote, ZXID_NONE } from "@zooid/model";
import type { Candidates } from "./config.ts";
import type { ElectionPosition } from "./events.ts";

/**
 * The order of votes: by peerEpoch, then zxid, then server id, each deciding only where those
 * before it are equal.
 *
 * @returns above 0 when `a` stands higher, below 0 when `b` does, 0 only for equal votes
 */
export function compareVotes(a: Vote, b: Vote): number {
  // rule: the-newest-epoch-first
  if (a.peerEpoch !== b.peerEpoch) return a.peerEpoch - b.peerEpoch;
  if (a.zxid !== b.zxid) return a.zxid - b.zxid;
  return a.leader - b.leader;
}

/**
 * Whether a server that votes `current` changes to `challenger`. A voter of weight 0 is no
 * candidate: no server changes to it, and its own first vote, which names itself since it must name
 * someone, gives way to any candidate.
 */
export function beats(challenger: Vote, current: Vote, candidates: Candidates): boolean {
  // rule: candidates-alone-are-elected
  if (!candidates.has(challenger.leader)) return false;
  return !candidates.has(current.leader) || compareVotes(challenger, current) > 0;
}

/** The vote of a server that has voted `own` and receives `heard`. */
export function better(heard: Vote, own: Vote, candidates: Candidates): Vote {
  return beats(heard, own, candidates) ? heard : own;
}

/** Equal in every field: agreement within a round. */
export function isSameVote(a: Vote, b: Vote): boolean {
  return a.leader === b.leader && a.zxid === b.zxid && a.peerEpoch === b.peerEpoch;
}

/**
 * Equal in leader and epoch: members of one ensemble may remember different zxids of their leader.
 */
export function isSameLeadership(a: Vote, b: Vote): boolean {
  return a.leader === b.leader && a.peerEpoch === b.peerEpoch;
}

/** A server's vote for itself; none without a vote. */
export function ownVote(sid: ServerId, position: ElectionPosition | undefined): Vote | undefined {
  if (position === undefined) return undefined;
  const { zxid, currentEpoch } = position;
  assert(zxid === ZXID_NONE || counterOf(zxid) !== 0, `a position is a logged entry, found the start marker ${zxid}`);
  return { leader: sid, zxid, peerEpoch: currentEpoch };
}

/**
 * The vote that a server begins with: for itself, or for a candidate ahead of it that has no vote.
 * None without a vote.
 */
export function firstVote(own: Vote | undefined, nominee: Vote | undefined, candidates: Candidates): Vote | undefined {
  return own === undefined || nominee === undefined ? own : better(nominee, own, candidates);
}
