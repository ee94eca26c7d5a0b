import type { Acl, Zxid } from "@zooid/model";

/** The tree in memory as the store sees it, to write a state file from. */
export interface LiveTree {
  /** Begins to walk over it; undefined while a transaction is applied in part. */
  capture(): LiveCapture | undefined;
  /**
   * Where it stands now, which must be durable in the log; undefined while a transaction is applied
   * in part.
   */
  position(): LivePosition | undefined;
}

export interface LivePosition {
  readonly zxid: Zxid;
  readonly digestHigh: number;
  readonly digestLow: number;
}

/**
 * A walk over a tree that changes meanwhile. Records are taken at different times. The transactions
 * after {@link applied} are then applied again, and make all records those of one zxid. Nodes from
 * {@link nextNode} on are left to them.
 */
export interface LiveCapture {
  readonly applied: Zxid;
  readonly nextNode: number;
  /** The feature level when the walk began. */
  readonly level: number;
  /** Hands over some records, each node and session at most once. False when there are no more. */
  next(countMax: number, sink: LiveSink): boolean;
}

export interface LiveSink {
  session(session: Readonly<LiveSession>): void;
  node(node: Readonly<LiveNode>): void;
}

export interface LiveSession {
  readonly high: number;
  readonly low: number;
  readonly timeoutMs: number;
  readonly passwordHash: Uint8Array;
}

export interface LiveNode {
  readonly id: number;
  readonly parentId: number;
  readonly name: Uint8Array;
  readonly data: Uint8Array | null;
  /** In stored form, as in a state file. */
  readonly stat: Uint8Array;
  readonly acl: Acl;
}
