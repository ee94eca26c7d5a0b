import type { ConnectionRef, ElectionMessage, ReplySink, Request, ServerId, TxnHeader, TxnOp } from "@zooid/model";
import type { SnapshotPort, ZabLinks, ZabLog } from "@zooid/zab";
import type { Connection } from "./connections/connection.ts";
import type { ReplicaEvent } from "./operator-events.ts";

/** Why a connection was closed, other than by its own wish or its session's end. */
export type Refusal =
  | "unreadable-request"
  | "unknown-operation"
  | "authentication"
  | "unauthenticated"
  | "other-ensemble"
  | "watch-limit";

/**
 * What a replica does to the world. The driver implements it; calls come in the order in which things must happen.
 */
export interface ReplicaSinks {
  readonly replies: ReplySink;
  /** Make entries durable, then say `synced`. The bytes of an append may be used again after the call. */
  readonly log: ZabLog;
  readonly links: ZabLinks;
  readonly snapshots: SnapshotPort;
  /** To another server's election port; only the newest message to each counts. */
  elect(to: ServerId, message: ElectionMessage): void;
  /** The log has named a state that was received: load the tree from it, now. */
  install(): void;
  /** This server's role changed, or how far it has come; see the replica's `membership` and `isServing`. */
  roleChanged(): void;
  /** For operators. */
  note(event: ReplicaEvent): void;
  /** There is room again: go on reading this connection. */
  resume(connection: ConnectionRef): void;
  /** A connection is closed for what it sent. For those who observe. */
  refused?(connection: ConnectionRef, refusal: Refusal): void;
  /** A connection that stays open sent a wrong password: its further requests are to wait a while where many came from its address. */
  wrongPassword?(connection: ConnectionRef): void;
  /**
   * A client's write was given the number that its transaction carries as `originSeq`. The request is lent for the call; parts of a multi
   * are left as they were found. For those who observe.
   */
  requested?(sequence: number, connection: Connection, request: Request): void;
  /** One op of a committed transaction was applied. For those who observe; never on the way of an answer. */
  applied?(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void;
}
