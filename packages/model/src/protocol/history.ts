import type { LevelRaise } from "../levels/level-raise.ts";
import { composeZxid, type Zxid } from "./zxid.ts";

/**
 * Eight bytes that stand for a whole history up to an entry: equal chains at equal zxids mean equal
 * histories. The log computes them; all others only compare them.
 */
export type Chain = bigint & { readonly __brand: "Chain" };

/** The chain before the first entry of all. */
export const CHAIN_NONE: Chain = 0n as Chain;

/** A place in a history, and the proof of everything before it. */
export interface LogPosition {
  readonly zxid: Zxid;
  readonly chain: Chain;
}

/** A whole state, named by the history that it ends and by what is in it. */
export interface NamedState extends LogPosition {
  /** The tree's digest, as two signed halves. */
  readonly digestHigh: number;
  readonly digestLow: number;
}

/** The state of another ensemble that a member keeps ready, or has taken over. */
export interface StandbyReport extends NamedState {
  /** It is the member's own now: the beginning of its history. */
  readonly isTaken: boolean;
}

export function isSameState(a: NamedState, b: NamedState): boolean {
  return a.zxid === b.zxid && a.chain === b.chain && a.digestHigh === b.digestHigh && a.digestLow === b.digestLow;
}

/** The counters of one epoch that a server has logged. */
export interface EpochRange {
  readonly epoch: number;
  readonly first: number;
  readonly last: number;
}

/**
 * A promise to follow no leader of a lower epoch: the paper's acceptedEpoch, and the leader that
 * received it.
 */
export interface EpochPromise {
  readonly epoch: number;
  readonly sid: number;
  /** Which life of that leader: its boot count. */
  readonly incarnation: number;
}

/**
 * The durable content of a server's log, on which an election, a discovery and a synchronization
 * rest.
 */
export interface LogState {
  readonly identity: {
    /** Empty until the ensemble has one. */
    readonly ensembleId: string;
    readonly sid: number;
    /** One up at each open: it fences messages of an earlier process in transit. */
    readonly bootCount: number;
    /**
     * Drawn when the log was made: another disk under this server's number has another one. Empty
     * where it is not known.
     */
    readonly diskId: string;
  };
  readonly promise: EpochPromise;
  readonly currentEpoch: number;
  /** The last entry, or the floor when there is none. */
  readonly tail: LogPosition;
  /** The position before the first entry that is still held. */
  readonly floor: LogPosition;
  /**
   * A point known to be committed; nothing above it may be applied before a leader has spoken. It
   * is below the floor while that is a restored state that no quorum is known to have.
   */
  readonly commitHint: Zxid;
  /** Oldest epoch first; rows outlive the floor. */
  readonly epochs: readonly EpochRange[];
  /**
   * The log once lost something it had acked; it must not vote until an installed history ends
   * that.
   */
  readonly amnesiac: boolean;
  /**
   * Configurations of the ensemble, the one in force and the newest; undefined where there was
   * none.
   */
  readonly committedConfig?: Uint8Array | undefined;
  readonly lastSeenConfig?: Uint8Array | undefined;
  /** The last raise of the feature level; absent where there was none, which is level 1. */
  readonly levelRaise?: LevelRaise | undefined;
}

/**
 * Whether a log begins with a restored state that no quorum is known to have. The ensemble may have
 * continued with the history that the state would have replaced.
 */
export function isFloorUncommitted({ commitHint, floor }: Pick<LogState, "commitHint" | "floor">): boolean {
  return commitHint < floor.zxid;
}

/** Epochs that a restore and a recovery of a stopped server leave out. */
export const EPOCHS_SKIPPED = 1000;

/**
 * Where a history continues from a state of the past: a state that a running ensemble has restored
 * is the only entry of its epoch, which is never the first one, and the table of epochs has nothing
 * before it; a stopped server that is restored, or recovered, leaves out {@link EPOCHS_SKIPPED}.
 *
 * @returns undefined for a history that was never restored
 */
export function restoredAt({ currentEpoch, epochs }: Pick<LogState, "currentEpoch" | "epochs">): Zxid | undefined {
  const [begin] = epochs;
  const isRestored = begin !== undefined && begin.epoch > 1 && begin.first === 1 && begin.last === 1;
  const numbers = [...epochs.map(({ epoch }) => epoch), currentEpoch];
  const behindGap = numbers.findLast((epoch, i) => epoch - (numbers[i - 1] ?? epoch) >= EPOCHS_SKIPPED);
  if (behindGap !== undefined) return composeZxid(behindGap, 1);
  return isRestored ? composeZxid(begin.epoch, 1) : undefined;
}

/**
 * The history that a learner installs, in one transaction: the log is cut where the stage begins,
 * what was staged is added, and the epoch is set. Source: reference on ZAB, rule 3 and section 5.4
 * step S4.
 */
export interface HistoryInstall {
  /** Becomes `currentEpoch`. */
  readonly epoch: number;
  /** The end of the history that the leader announced: the stage must end exactly there. */
  readonly tail: Zxid;
  /** A commit point known now. */
  readonly committed: Zxid;
  /**
   * Replaces everything by a snapshot at the stage's beginning: the entries go, the floor becomes
   * the snapshot.
   */
  readonly snapshot?: {
    readonly stateFile: string;
    readonly epochs: readonly EpochRange[];
    /** It is a restored state that is not known to be committed: the commit hint stays below it. */
    readonly isUncommitted?: boolean;
  };
  /**
   * The leader's quorums were complete without this server: others know the entries that it forgot.
   */
  readonly endsAmnesia?: boolean;
  /** Whose history it is, where the log did not know: it must have had none, or no id. */
  readonly ensembleId?: string;
  /** The configuration at the history's end. */
  readonly lastSeenConfig?: Uint8Array;
  /** The one that it replaces, while it is not known to be committed. */
  readonly committedConfig?: Uint8Array;
  /** The last raise of the feature level up to the history's end. Default: the log's own stays. */
  readonly levelRaise?: LevelRaise;
}

/** Entries of a log, in the framing of batches: zxid (u64 BE), length (u32 BE), record. */
export interface EntryRun {
  readonly bytes: Uint8Array;
  /** Where the run begins (the entry before the first) and ends: equal when there was nothing. */
  readonly after: LogPosition;
  readonly last: LogPosition;
  /** How many entries. */
  readonly count: number;
}
