import {
  assert,
  counterOf,
  earlierOf,
  epochOf,
  formatsAt,
  formatZxid,
  isFloorUncommitted,
  laterOf,
  levelAt,
  levelInForce,
  mayFollow,
  raiseUpTo,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model/storage";
import type {
  DurableLog,
  EpochPromise,
  EpochRange,
  HistoryInstall,
  LogBranching,
  LogPosition,
  RunMarks,
} from "./txn-log.ts";

/**
 * The facts of a log besides its entries, and the changes to it that are legal. Pure: both forms of
 * the log ask it for the outcome of a write, then make that durable in their own way.
 */

export function assertFollows(tail: Zxid, next: Zxid): void {
  assert(mayFollow(tail, next), () => `entry ${formatZxid(next)} does not follow ${formatZxid(tail)}, the log's end`);
}

export function withPromise(log: DurableLog, promise: EpochPromise): DurableLog {
  assert(promise.epoch > log.promise.epoch, `epoch ${promise.epoch} is promised after epoch ${log.promise.epoch}`);
  return { ...log, promise };
}

export function withCurrentEpoch(log: DurableLog, epoch: number): DurableLog {
  assert(epoch >= log.currentEpoch, `currentEpoch ${log.currentEpoch} would fall to ${epoch}`);
  assert(epoch <= log.promise.epoch, `currentEpoch ${epoch} lies above the promise ${log.promise.epoch}`);
  return { ...log, currentEpoch: epoch };
}

export function withEnsembleId(log: DurableLog, ensembleId: string): DurableLog {
  const { identity } = log;
  // Without a history it is the id of an attempt to found the ensemble, which may have come to
  // nothing.
  assert(
    identity.ensembleId === "" || identity.ensembleId === ensembleId || log.tail.zxid === ZXID_NONE,
    `a log of ensemble ${identity.ensembleId} belongs to it, not to ensemble ${ensembleId}`,
  );
  return { ...log, identity: { ...identity, ensembleId } };
}

export function withConfigs(
  log: DurableLog,
  configs: { readonly committed?: Uint8Array; readonly lastSeen?: Uint8Array },
): DurableLog {
  return {
    ...log,
    committedConfig: configs.committed ?? log.committedConfig,
    lastSeenConfig: configs.lastSeen ?? log.lastSeenConfig,
  };
}

/** The log with the facts that appended entries change beside the entries. */
export function withMarks(log: DurableLog, { lastSeenConfig, levelRaise }: RunMarks): DurableLog {
  return {
    ...log,
    lastSeenConfig: lastSeenConfig ?? log.lastSeenConfig,
    levelRaise: levelRaise ?? log.levelRaise,
  };
}

/**
 * The log as its next segment has it: in the format of the level in force, as far as the log knows.
 * The log stays in a format once it has it.
 */
export function withFormatInForce(log: DurableLog): DurableLog {
  const { identity, levelRaise, commitHint } = log;
  const { log: inForce } = formatsAt(levelAt(levelRaise, commitHint));
  if (inForce <= identity.formatVersion) return log;
  return { ...log, identity: { ...identity, formatVersion: inForce } };
}

/** Highest epoch that a log says anything of. */
export function highestEpoch({ promise, currentEpoch, tail, epochs }: DurableLog): number {
  return Math.max(promise.epoch, currentEpoch, epochOf(tail.zxid), epochs.at(-1)?.epoch ?? 0);
}

export function withBranch(log: DurableLog, { ensembleId, sid, epoch, config }: LogBranching): DurableLog {
  assert(epoch > highestEpoch(log), `epoch ${epoch} of a branch is above ${highestEpoch(log)}, which the log knows`);
  assert(
    ensembleId !== "" && ensembleId !== log.identity.ensembleId,
    `a branch of ensemble ${log.identity.ensembleId} has another id, not "${ensembleId}"`,
  );
  const { identity, tail } = log;
  return {
    ...log,
    identity: { ...identity, ensembleId, sid },
    promise: { epoch, sid, incarnation: identity.bootCount },
    currentEpoch: epoch,
    commitHint: tail.zxid,
    committedConfig: config,
    lastSeenConfig: config,
    amnesiac: false,
    branches: [...log.branches, { ensembleId: identity.ensembleId, sid: identity.sid, at: tail }],
  };
}

export function withCut(log: DurableLog, to: LogPosition): DurableLog {
  assert(
    to.zxid >= log.floor.zxid,
    `a cut to ${formatZxid(to.zxid)} goes below the floor ${formatZxid(log.floor.zxid)}`,
  );
  assert(to.zxid <= log.tail.zxid, `a cut to ${formatZxid(to.zxid)} lies above the end ${formatZxid(log.tail.zxid)}`);
  assert(
    to.zxid >= log.commitHint,
    `a cut to ${formatZxid(to.zxid)} would drop what ${formatZxid(log.commitHint)} says is committed`,
  );
  const levelRaise = raiseUpTo(log.levelRaise, to.zxid);
  return { ...log, tail: to, epochs: epochsUpTo(log.epochs, to.zxid), levelRaise };
}

/**
 * The log, with what its state file proves: everything up to the state's position was committed. A
 * log that ends before that position has lost entries. It then restarts behind the state, which is
 * all that is left of them. A restored state at the log's floor proves nothing.
 */
export function withApplied(log: DurableLog, applied: LogPosition | undefined): DurableLog {
  if (applied === undefined || applied.zxid <= log.commitHint) return log;
  if (applied.zxid === log.floor.zxid && isFloorUncommitted(log)) return log;
  if (applied.zxid <= log.tail.zxid) return { ...log, commitHint: applied.zxid };
  assert(log.amnesiac, `the state stands at ${formatZxid(applied.zxid)}, the log ends at ${formatZxid(log.tail.zxid)}`);
  const epochs = withEntry(log.epochs, applied.zxid);
  return { ...log, tail: applied, floor: applied, commitHint: applied.zxid, epochs };
}

/**
 * The log beside a state file at some level: that level is in force, also where the log has lost
 * the entry that raised it.
 */
export function withStateLevel(log: DurableLog, level: number): DurableLog {
  return log.levelRaise.level >= level ? log : { ...log, levelRaise: levelInForce(level) };
}

export function withInstall(before: DurableLog, install: HistoryInstall, stage: Stage): DurableLog {
  const log = install.ensembleId === undefined ? before : withEnsembleId(before, install.ensembleId);
  assert(
    stage.tail.zxid === install.tail,
    `the stage ends at ${formatZxid(stage.tail.zxid)}, not at ${formatZxid(install.tail)}`,
  );
  assert(
    install.committed <= install.tail,
    `${formatZxid(install.committed)} is called committed above ${formatZxid(install.tail)}`,
  );
  const { snapshot } = install;
  const base: DurableLog =
    snapshot === undefined
      ? withCut(log, stage.after)
      : {
          ...log,
          tail: stage.after,
          floor: stage.after,
          // rule: a-restored-state-is-committed-by-a-quorum
          commitHint: snapshot.isUncommitted === true ? log.commitHint : stage.after.zxid,
          // rule: the-epoch-table-follows-the-state
          epochs: epochsUpTo(snapshot.epochs, stage.after.zxid),
          stateFile: snapshot.stateFile,
        };
  return withCurrentEpoch(
    {
      ...base,
      tail: stage.tail,
      commitHint: laterOf(base.commitHint, install.committed),
      epochs: stage.epochs.reduce(joinEpoch, base.epochs),
      committedConfig: install.committedConfig ?? log.committedConfig,
      lastSeenConfig: install.lastSeenConfig ?? log.lastSeenConfig,
      levelRaise: install.levelRaise ?? log.levelRaise,
      amnesiac: log.amnesiac && install.endsAmnesia !== true,
    },
    install.epoch,
  );
}

/** The part that has been staged so far, apart from the entries themselves. */
export interface Stage {
  readonly after: LogPosition;
  readonly tail: LogPosition;
  readonly epochs: readonly EpochRange[];
}

export function newStage(after: LogPosition): Stage {
  return { after, tail: after, epochs: [] };
}

/**
 * The epoch table after an entry. The same array when only the last row's end moved on by nothing.
 */
export function withEntry(epochs: readonly EpochRange[], zxid: Zxid): readonly EpochRange[] {
  const counter = counterOf(zxid);
  return joinEpoch(epochs, { epoch: epochOf(zxid), first: counter, last: counter });
}

function joinEpoch(epochs: readonly EpochRange[], range: EpochRange): readonly EpochRange[] {
  const newest = epochs.at(-1);
  if (newest === undefined || newest.epoch < range.epoch) return [...epochs, range];
  return [...epochs.slice(0, -1), { ...newest, last: range.last }];
}

/** The table as if nothing had been logged above a zxid. */
export function epochsUpTo(epochs: readonly EpochRange[], zxid: Zxid): readonly EpochRange[] {
  const epoch = epochOf(zxid);
  return epochs
    .filter((range) => range.epoch <= epoch)
    .map((range) => (range.epoch === epoch ? { ...range, last: Math.min(range.last, counterOf(zxid)) } : range));
}

/**
 * The commit hint of a log that ends at a zxid. A leader may have committed more than has come here
 * yet: that says nothing about this log.
 */
export function hintAt(end: Zxid, hint: Zxid, committed: Zxid): Zxid {
  return laterOf(hint, earlierOf(committed, end));
}

/**
 * The last zxid that may be purged: at most `allowed`, and no entry above the commit hint, which
 * may have to be cut.
 */
export function purgeLimit({ commitHint }: DurableLog, allowed: Zxid): Zxid {
  return earlierOf(allowed, commitHint);
}
