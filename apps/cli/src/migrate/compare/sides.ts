import type { NodeState, Observed } from "./node-state.ts";

/** Gets the nodes of a side, in any order. */
export interface NodeVisitor {
  node(path: string, state: NodeState): void;
  /** A node that may not be read; the nodes below it do not come. */
  unread(path: string): void;
}

/** A server of Apache's, which changes while it is read. */
export interface ServerSide {
  readonly name: string;
  /** The highest zxid that an answer carried. */
  readonly zxid: number;
  readAll(visitor: NodeVisitor): Promise<void>;
  readSome(paths: readonly string[]): Promise<ReadonlyMap<string, Observed>>;
  /** Waits until the server has a transaction; false where it takes too long. */
  reach(zxid: number): Promise<boolean>;
}

/** The side that servers are compared with: a follower, or a server that has imported them. */
export interface OtherSide {
  readonly name: string;
  /**
   * Whether all nodes of one reading are of one zxid. A side that is read node by node is only
   * compared where nothing changes it.
   */
  readonly isAtOneZxid: boolean;
  /** @returns the zxid of the state that was read */
  readAll(visitor: NodeVisitor): Promise<number>;
  readSome(paths: ReadonlySet<string>): Promise<OtherReading>;
  /** Waits until it has a transaction, for a limited time. */
  reach(zxid: number): Promise<void>;
}

export interface OtherReading {
  readonly zxid: number;
  /** Those that are there. */
  readonly nodes: ReadonlyMap<string, Observed>;
}
