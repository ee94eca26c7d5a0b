import type {
  ClientShare,
  HistoryQuery,
  PastChange,
  PastChanges,
  PastChildren,
  PastNode,
  PastRefusal,
  RequestDecoder,
  TxnBatcher,
  TxnDecoder,
} from "@zooid/model";
import type { Hashes, SaslExchange } from "./auth/auth-schemes.ts";

/** The machines that turn bytes into values and back, and the platform's hash functions. */
export interface ReplicaTools {
  readonly requests: RequestDecoder;
  readonly batcher: TxnBatcher;
  readonly txns: TxnDecoder;
  /** Another one, for entries that are not applied yet. */
  readonly entries: TxnDecoder;
  readonly hashes: Hashes;
  /**
   * Begins a connection's SASL exchange. Absent: the server knows no users, and answers with an
   * empty token.
   */
  readonly sasl?: () => SaslExchange;
  /** Absent: this server keeps no history, and does not know the operations on it. */
  readonly history?: HistoryAccess;
  /** At least 0, below 1. Nothing that has to be secret. */
  readonly random: () => number;
}

/** The history of this server, and the encoding of answers about it. */
export interface HistoryAccess {
  /** Begins to read; `Replica.historyRead` takes the answer. The query is the callee's. */
  read(serial: number, query: HistoryQuery, asker: HistoryAsker): void;
  encodeRefusal(refusal: PastRefusal): Uint8Array;
  encodeNode(node: PastNode): Uint8Array;
  encodeChildren(children: PastChildren): Uint8Array;
  /** Lent until the next call. */
  encodeChanges(page: ShownPastChanges): Uint8Array;
}

/** The connection that asks, and what it counts as among others. */
export interface HistoryAsker extends ClientShare {
  /** Whether anybody still waits for the answer. */
  readonly isOpen: boolean;
}

/** A page without the data that the client might not have read then. */
export interface ShownPastChanges extends Omit<PastChanges, "changes"> {
  readonly changes: readonly (Omit<PastChange, "acl"> & { readonly isReadable: boolean })[];
}
