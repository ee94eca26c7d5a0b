/** Situations that a long run must reach at least once: what it never reaches it does not test. */
export const SITUATIONS = [
  "history by DIFF",
  "history by TRUNC",
  "whole state by SNAP",
  "SNAP interrupted",
  "crash during a history install, lost",
  "crash during a history install, kept",
  "crash with unsynced entries lost",
  "crash with unsynced entries kept",
  "two leaders tried for one epoch",
  "proposal died",
  "proposal of a dead leader survived",
  "leader with a smaller log refused",
  "promise repeated to the same leader",
  "counter near its end, new epoch",
  "leadership transferred",
  "successor led without an election",
  "wiped voter votes again",
  "majority started without its disks",
  "old disk came back",
  "sync at a deposed leader",
  "leader lost its quorum",
  "leader paused beyond the limit",
  "session expired",
  "session moved to another server",
  "write of a moved session refused",
  "disk full",
  "write refused for want of room",
  "sync failed",
  "observer served",
  "session closed in several parts",
  "transaction applied in slices",
  "multi prepared in slices",
  "crash while a multi is prepared",
  "crash in the middle of a transaction",
  "crash between the parts of the end of a session",
  "oversized transaction refused",
  "connection closed for its watches",
  "connection not read for a while",
  "batch full by its bytes",
  "watches restored at another connection",
  "server elected with an older history",
  "local session upgraded",
  "local session refused at another server",
  "upgraded session moved to another server",
  "ephemeral of a local session refused",
  "hostile tenant disconnected",
  "hostile tenant refused for what the tree holds",
  "container reaped",
  "TTL node reaped",
  "renewal with a wrong password refused",
  "write without a permission refused",
  "log damaged",
  "hierarchical quorum",
  "basic election",
  "ensemble of one",
  "configuration changed",
  "list of files in force",
  "server upgraded",
  "change of the configuration refused",
  "leader not in the configuration it committed",
  "change completed by a successor",
  "crash before a change is committed",
  "configuration learned in an election",
] as const;

/** Those of runs in which operators restore states of the past. */
export const RESTORE_SITUATIONS = [
  "state restored",
  "restore given up",
  "restore undecided",
  "state restored by a successor",
  "session of a restored state resumed",
  "restored state given up again",
] as const;

/** Those of runs in which servers change their versions. */
export const LEVEL_SITUATIONS = [
  "server of another version",
  "level raised",
  "raise of the level blocked",
  "start of an unknown level refused",
  "learner of an unknown level refused",
  "request refused for its level",
  "request of a later level",
] as const;

export type Situation =
  | (typeof SITUATIONS)[number]
  | (typeof RESTORE_SITUATIONS)[number]
  | (typeof LEVEL_SITUATIONS)[number];

/** Counts how often each situation was reached. */
export class CoverageCounts {
  readonly #counts = new Map<string, number>();

  reached(what: Situation): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  addAll(counts: Readonly<Record<string, number>>): void {
    for (const [what, count] of Object.entries(counts)) this.#counts.set(what, (this.#counts.get(what) ?? 0) + count);
  }

  count(what: Situation): number {
    return this.#counts.get(what) ?? 0;
  }

  get unreached(): readonly Situation[] {
    return SITUATIONS.filter((what) => this.count(what) === 0);
  }

  get unreachedOfRestores(): readonly Situation[] {
    return RESTORE_SITUATIONS.filter((what) => this.count(what) === 0);
  }

  get unreachedOfLevels(): readonly Situation[] {
    return LEVEL_SITUATIONS.filter((what) => this.count(what) === 0);
  }

  toJSON(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
