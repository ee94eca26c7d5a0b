import type { Zxid } from "./zxid.ts";

/**
 * Eight bytes that stand for a whole history up to an entry: equal chains at equal zxids mean equal histories. What computes them
 * is the log; everybody else compares them.
 */
export type Chain = bigint & { readonly __brand: "Chain" };

/** The chain before the first entry of all. */
export const CHAIN_NONE: Chain = 0n as Chain;

/** A place in a history, and the proof of everything before it. */
export interface LogPosition {
  readonly zxid: Zxid;
  readonly chain: Chain;
}

/** The counters of one epoch that a server has logged. */
export interface EpochRange {
  readonly epoch: number;
  readonly first: number;
  readonly last: number;
}

/** "No leader below this epoch has my word": acceptedEpoch, and the leader it was given to. */
export interface EpochPromise {
  readonly epoch: number;
  readonly sid: number;
  /** Which life of that leader: its boot count. */
  readonly incarnation: number;
}
