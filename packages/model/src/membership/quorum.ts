import type { ServerId } from "./server-id.ts";

/** Decides whether a set of servers is enough. Servers that are no voters of it are not counted. */
export interface QuorumVerifier {
  readonly voters: ReadonlySet<ServerId>;
  /** Those of them that may lead: a voter without weight votes, and is never followed. */
  readonly candidates: ReadonlySet<ServerId>;
  isQuorum(acked: Iterable<ServerId>): boolean;
}

/** More than half of the voters. */
export class MajorityQuorum implements QuorumVerifier {
  readonly voters: ReadonlySet<ServerId>;
  readonly candidates: ReadonlySet<ServerId>;

  constructor(voters: Iterable<ServerId>) {
    this.voters = new Set(voters);
    this.candidates = this.voters;
  }

  isQuorum(acked: Iterable<ServerId>): boolean {
    // rule: more-than-half
    return countVoters(acked, this.voters) * 2 > this.voters.size;
  }
}

/** A voter's group and weight. */
export interface WeightedVoter {
  readonly sid: ServerId;
  readonly group: number;
  readonly weight: number;
}

/**
 * Groups partition the voters. A group is won when more than half of its weight is in; a quorum is
 * more than half of the groups that have any weight.
 */
export class HierarchicalQuorum implements QuorumVerifier {
  readonly voters: ReadonlySet<ServerId>;
  readonly candidates: ReadonlySet<ServerId>;
  readonly #members: ReadonlyMap<ServerId, WeightedVoter>;
  readonly #groupWeight: ReadonlyMap<number, number>;

  constructor(voters: Iterable<WeightedVoter>) {
    const members = new Map<ServerId, WeightedVoter>();
    const groupWeight = new Map<number, number>();
    for (const voter of voters) {
      members.set(voter.sid, voter);
      groupWeight.set(voter.group, (groupWeight.get(voter.group) ?? 0) + voter.weight);
    }
    this.#members = members;
    this.#groupWeight = groupWeight;
    this.voters = new Set(members.keys());
    this.candidates = new Set([...members.values()].filter(({ weight }) => weight > 0).map(({ sid }) => sid));
  }

  isQuorum(acked: Iterable<ServerId>): boolean {
    const ackedWeight = new Map<number, number>();
    for (const sid of new Set(acked)) {
      const voter = this.#members.get(sid);
      if (voter !== undefined) ackedWeight.set(voter.group, (ackedWeight.get(voter.group) ?? 0) + voter.weight);
    }
    let groups = 0;
    let won = 0;
    for (const [group, weight] of this.#groupWeight) {
      if (weight === 0) continue;
      groups++;
      // rule: more-than-half-of-a-group
      if ((ackedWeight.get(group) ?? 0) * 2 > weight) won++;
    }
    return won * 2 > groups;
  }
}

/**
 * Satisfied when both are: what holds while one configuration gives way to the next. Candidates are
 * those of the present one: some of them has all that is committed, since its quorum counts.
 */
export function jointVerifier(present: QuorumVerifier, next: QuorumVerifier): QuorumVerifier {
  return {
    voters: new Set([...present.voters, ...next.voters]),
    candidates: present.candidates,
    isQuorum: (acked) => {
      const all = [...acked];
      return present.isQuorum(all) && next.isQuorum(all);
    },
  };
}

function countVoters(acked: Iterable<ServerId>, voters: ReadonlySet<ServerId>): number {
  let count = 0;
  for (const sid of new Set(acked)) if (voters.has(sid)) count++;
  return count;
}
