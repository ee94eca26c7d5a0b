import type { Acl } from "../tree/acl-entry.ts";
import type { TimeFault } from "./time-fault.ts";
import type { Zxid } from "./zxid.ts";

/** A client's question about a server's history. */
export type HistoryQuery =
  | { readonly kind: "node" | "children"; readonly path: Uint8Array; readonly at: PastMoment }
  | {
      readonly kind: "changes";
      readonly path: Uint8Array;
      readonly scope: "node" | "subtree";
      readonly after: Zxid;
      readonly countMax: number;
    }
  /** The access lists of nodes, each behind a transaction. */
  | { readonly kind: "acls"; readonly nodes: readonly PastPlace[] };

/** A node behind a transaction. */
export interface PastPlace {
  readonly path: Uint8Array;
  readonly zxid: Zxid;
}

/**
 * Behind a transaction; or behind the last one before the first that was stamped later than a time.
 */
export type PastMoment = { readonly zxid: Zxid } | { readonly timeMs: number };

/** How a request says a moment. */
export const MomentUnit = { ZXID: 0, TIME_MS: 1 } as const;

/** The part of a moment that a request asks for. */
export const PastPart = { NODE: 0, CHILDREN: 1 } as const;

/** A node at a moment of the past; without what its children changed of it. */
export interface PastNode {
  /** Null is the protocol's null. */
  readonly data: Uint8Array | null;
  readonly acl: Acl;
  readonly czxid: Zxid;
  readonly mzxid: Zxid;
  readonly ctimeMs: number;
  readonly mtimeMs: number;
  readonly version: number;
  readonly aversion: number;
  /** As stored: a session, the marker of a container or of a TTL node, or 0. */
  readonly ownerHigh: number;
  readonly ownerLow: number;
}

/** Whose changes a request asks for. */
export const ChangesScope = { NODE: 0, SUBTREE: 1 } as const;

/** The children of a node at a moment of the past. */
export interface PastChildren {
  /** In no order. */
  readonly names: readonly string[];
}

/** A change of a node, as the history has it. */
export interface PastChange {
  readonly path: Uint8Array;
  readonly zxid: Zxid;
  readonly timeMs: number;
  /** As a transaction has it, see `TxnHeader`; empty where it has none. */
  readonly who: string;
  /** CREATE, DELETE, SET_DATA, …, as the client asked it. */
  readonly op: number;
  /** Creates and SET_DATA; null is the protocol's null. */
  readonly data: Uint8Array | null;
  /** The version that results, of the data or of the access list; 0 of creates and deletes. */
  readonly version: number;
  /**
   * The access list in force behind it, before it for a delete; undefined where no change of the
   * page has set it.
   */
  readonly acl: Acl | undefined;
}

/** Transactions behind the first zxid and up to the second one. */
export interface ZxidRange {
  readonly after: Zxid;
  readonly end: Zxid;
}

export interface PastChanges {
  /** The transaction behind which the history begins. */
  readonly begins: Zxid;
  readonly changes: readonly PastChange[];
  /** The page has every change up to here, but for those in the gaps. */
  readonly reached: Zxid;
  readonly isLast: boolean;
  /** The ranges of this page that the history lacks. */
  readonly gaps: readonly ZxidRange[];
}

/**
 * The first and the last transaction behind which a history can say what a node was, but for gaps
 * between them.
 */
export interface HistoryReach {
  readonly first: Zxid;
  readonly last: Zxid;
}

/** The history, as a refused question about the past gets it. */
export interface PastRefusal {
  /** Undefined: the history has no whole state yet. */
  readonly reach: HistoryReach | undefined;
  /** Why a time stands for no transaction. */
  readonly fault: TimeFault | undefined;
}

export type HistoryAnswer =
  | { readonly kind: "node"; readonly node: PastNode }
  /** The access list is that of the node. */
  | ({ readonly kind: "children"; readonly acl: Acl } & PastChildren)
  | { readonly kind: "no-node" }
  | ({ readonly kind: "changes" } & PastChanges)
  /**
   * The lists of the first of the nodes, in their order; undefined where one is unknown, or was
   * not there.
   */
  | { readonly kind: "acls"; readonly acls: readonly (Acl | undefined)[] }
  /** Names, or changes of children, beyond what one answer has or takes. */
  | { readonly kind: "too-large" }
  /** The history does not reach there, has a gap before, or has no transaction for a time. */
  | { readonly kind: "unknown"; readonly reach: HistoryReach | undefined; readonly fault?: TimeFault }
  /** A file of it is damaged, or could not be read. */
  | { readonly kind: "failed"; readonly reason: string };

/** Most changes in one page. */
export const CHANGES_COUNT_MAX = 1000;
/** Most bytes of the names of a node's children at a moment. */
export const PAST_NAMES_BYTES_MAX: number = 1024 * 1024;
