import { isSameList, isSameVotes, type Member, type Members, membersOf, type ServerId, ZXID_NONE } from "@zooid/model";
import type { PeerPhase, RoleContext } from "../role.ts";
import type { Learners } from "./learners.ts";

/** The part of a leader that is used. */
interface WishingLeader {
  readonly context: RoleContext;
  readonly learners: Learners;
  readonly phase: PeerPhase;
}

/** Why the leader does not propose a list that servers have in their files. */
export interface WaitingWish {
  readonly members: Members;
  /** They have this list in their files. */
  readonly wishers: readonly ServerId[];
  /**
   * They have another one, or were not heard: with some of them the list would have its quorums.
   */
  readonly lacking: readonly ServerId[];
  /** Those of them that were not heard. */
  readonly unheard: readonly ServerId[];
  /**
   * Servers of the list in force that count by their files, as those of version 0.1.0 do: while
   * they follow, nothing is proposed.
   */
  readonly earlier: readonly ServerId[];
}

/** The list in the files of a synchronized server. */
interface ReportedList {
  readonly sid: ServerId;
  readonly list: Members;
  readonly isWish: boolean;
}

/**
 * The lists of servers in the files of the ensemble's servers, and which of them the leader may
 * propose as a change.
 *
 * A list in one file does not count alone. If it did:
 *
 * 1. The list in force is 1, 2, 3; S3, S4 and S5 have 1 to 5 in their files.
 * 2. S3 leads by its file, and commits with S4 and S5.
 * 3. S1 and S2 elect each other, and commit something else.
 *
 * So a list is proposed once it has quorums of both lists, and committed by quorums of both.
 */
export class Wishes {
  readonly #leader: WishingLeader;

  constructor(leader: WishingLeader) {
    this.#leader = leader;
  }

  /** The list that may be proposed now; its version is that of the list in force. */
  get due(): Members | undefined {
    const { committed, isChanging } = this.#leader.context.members;
    if (this.#leader.phase !== "broadcast" || committed === undefined || isChanging) return undefined;
    if (this.#earlier.length > 0) return undefined;
    const reported = this.#synced();
    if (committed.version === ZXID_NONE) return this.#firstList(committed, reported);
    for (const { list } of reported) {
      const wishers = reported.filter((other) => other.isWish && isSameVotes(other.list, list));
      const sids = wishers.map(({ sid }) => sid);
      // 1. S3 of 1, 2, 3 leads and has 1 to 5 in its file, as S4 and S5 have.
      // 2. It changes the list with the quorum of the new one.
      // rule: a-wish-needs-both-quorums
      if (!committed.verifier.isQuorum(sids) || !list.verifier.isQuorum(sids)) continue;
      if (!isSameVotes(list, committed)) return joined(list, wishers);
      if (this.#isMoved(committed, list, wishers)) return list;
    }
    return undefined;
  }

  /** Lists that differ from the one in force, each with the servers whose files lack it. */
  get waiting(): readonly WaitingWish[] {
    const { committed } = this.#leader.context.members;
    if (this.#leader.phase !== "broadcast" || committed === undefined) return [];
    const wishes: WaitingWish[] = [];
    const reported = this.#synced().filter(({ isWish }) => isWish);
    for (const { list } of reported) {
      if (isSameVotes(list, committed) || wishes.some(({ members }) => isSameVotes(members, list))) continue;
      const wishers = reported.filter((other) => isSameVotes(other.list, list)).map(({ sid }) => sid);
      const voters = new Set([...committed.verifier.voters, ...list.verifier.voters]);
      const lacking = [...voters].filter((sid) => !wishers.includes(sid)).sort((a, b) => a - b);
      const unheard = lacking.filter((sid) => !reported.some((other) => other.sid === sid));
      wishes.push({ members: list, wishers, lacking, unheard, earlier: this.#earlier });
    }
    return wishes;
  }

  /** Whether servers whose operators name the members in files are a quorum of a configuration. */
  hasQuorumIn({ verifier }: Members): boolean {
    const wishers = this.#synced().filter(({ isWish }) => isWish);
    return verifier.isQuorum(wishers.map(({ sid }) => sid));
  }

  /**
   * An ensemble with data whose members came from files alone: its list is in force once it is the
   * same in the file of each server that it lists.
   */
  #firstList(committed: Members, reported: readonly ReportedList[]): Members | undefined {
    for (const { sid } of committed.servers) {
      const list = reported.find((other) => other.sid === sid)?.list;
      if (list === undefined || !isSameVotes(list, committed)) return undefined;
    }
    return joined(committed, reported);
  }

  /** Whether a quorum has the same new addresses in its files, to the letter. */
  #isMoved(committed: Members, list: Members, wishers: readonly ReportedList[]): boolean {
    if (isSameList(list, committed)) return false;
    const alike = wishers.filter((other) => isSameList(other.list, list));
    return committed.verifier.isQuorum(alike.map(({ sid }) => sid));
  }

  /** Servers of the list in force that count by their files, and would not learn of a change. */
  get #earlier(): readonly ServerId[] {
    const { context, learners } = this.#leader;
    const servers = context.members.committed?.servers ?? [];
    return Array.from(learners.values())
      .filter(({ sid, list }) => list === undefined && servers.some((server) => server.sid === sid))
      .map(({ sid }) => sid);
  }

  #synced(): readonly ReportedList[] {
    const { config, lostHistory } = this.#leader.context;
    const reported: ReportedList[] = [];
    if (config.members !== undefined && !lostHistory.isAmnesiac) {
      reported.push({ sid: config.sid, list: config.members, isWish: config.isWish });
    }
    for (const { sid, list, info, phase, isWhole } of this.#leader.learners.values()) {
      if (phase === "synced" && isWhole && list !== undefined)
        reported.push({ sid, list, isWish: info.isWish === true });
    }
    return reported.sort((a, b) => a.sid - b.sid);
  }
}

/**
 * One list of the same one in several files. Files often have an address for their own server that
 * means nothing elsewhere, like `0.0.0.0`: each line is that of another server's file where there
 * is one.
 */
export function joined(one: Members, reported: readonly Pick<ReportedList, "sid" | "list">[]): Members {
  const same = reported.filter(({ list }) => isSameVotes(list, one));
  const lineOf = (member: Member): Member => {
    const other = same.find(({ sid }) => sid !== member.sid);
    return other?.list.servers.find(({ sid }) => sid === member.sid) ?? member;
  };
  return membersOf(one.servers.map(lineOf), one.version, { clients: one.clients });
}
