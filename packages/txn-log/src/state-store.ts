import type { Acl, ByteSlice, Zxid } from "@zooid/model";
import type { Chain } from "./chain.ts";
import type { LogPosition } from "./txn-log.ts";

/**
 * The materialized tree: exactly the state at one zxid, brought forward lazily by a thread of its own from log entries that are
 * committed *and* durable. Derived from the log in every bit, so its lag costs start time and log space, never safety.
 */
export interface StateStore extends AsyncDisposable {
  /** Where the state stands on disk, synced. Moves forward as folds end. */
  readonly applied: StateMeta;

  /** Log bytes between the newest mark and what is folded: what a start would have to replay. */
  readonly lagBytes: number;

  /**
   * Reads the whole state into the tree, synchronously: sessions first, then nodes by ascending id, each row checked. Throws
   * `DAMAGED` with the row. For the start only, before anything is folded.
   */
  load(sink: StateSink): StateMeta;

  /**
   * Marks a point that may be folded up to: everything at or below it is committed and durable, and the tree's digest there is
   * known. Marks rise; the driver posts one at least each 16 MiB or 50 000 entries, so that one fold fits its memory.
   */
  advance(mark: StateMark): void;

  /** Folds up to the newest mark now, and resolves with what is then on disk. */
  flush(): Promise<StateMeta>;

  stats(): StateStats;

  /** Ends the thread without folding further; stopping twice is harmless. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface StateMark {
  readonly zxid: Zxid;
  /** The chain there, if the driver knows it: compared with the log's own. */
  readonly chain?: Chain;
  /** The tree's digest there, as two signed halves. */
  readonly digestHigh: number;
  readonly digestLow: number;
  /** Log bytes since the mark before: what the lag is counted in. */
  readonly bytes: number;
}

export interface StateMeta {
  readonly applied: LogPosition;
  readonly digestHigh: number;
  readonly digestLow: number;
  readonly ensembleId: string;
  /** The id that the next create takes: above every id ever used. */
  readonly nextNodeId: number;
}

/** One node as stored. A single object is reused for every row: read it before returning, copy what is kept. */
export interface StateNode {
  id: number;
  parentId: number;
  readonly name: ByteSlice;
  /** False is ZooKeeper's null. */
  hasData: boolean;
  readonly data: ByteSlice;
  /**
   * 68 bytes in wire order, in stored form: `cversion` counts the children ever created, `ephemeralOwner` is the owner as stored,
   * `numChildren` is 0.
   */
  readonly stat: ByteSlice;
  /** The same object for every node with an equal access list. */
  acl: Acl;
}

export interface StateSession {
  idHigh: number;
  idLow: number;
  timeoutMs: number;
  passwordHash: Uint8Array;
}

export interface StateSink {
  session(session: Readonly<StateSession>): void;
  node(node: Readonly<StateNode>): void;
}

export interface StateStats {
  /** Log bytes and marks between the newest mark and what is folded. */
  readonly lagBytes: number;
  readonly lagMarks: number;
  readonly foldCount: number;
  readonly foldMsTotal: number;
  readonly foldMsLast: number;
  readonly foldedEntries: number;
  readonly writtenNodes: number;
}
