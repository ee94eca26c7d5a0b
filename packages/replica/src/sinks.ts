import type {
  ConnectionRef,
  ElectionMessage,
  ReplySink,
  Request,
  ServerId,
  TxnHeader,
  TxnLog,
  TxnOp,
} from "@zooid/model";
import type { SnapshotPort, ZabLinks } from "@zooid/zab";
import type { Connection } from "./connections/connection.ts";
import type { ReplicaEvent } from "./operator-events.ts";

/** Why this server closed a connection because of what its client sent. */
export type ConnectionRefusal =
  | "unreadable-request"
  | "unknown-operation"
  | "authentication"
  | "unauthenticated"
  | "other-ensemble"
  | "watch-limit";

/** The sinks of a replica. The driver performs the calls in their order. */
export interface ReplicaSinks {
  readonly replies: ReplySink;
  /**
   * Makes entries durable, and then calls `synced`. The bytes of an append are lent for the call.
   */
  readonly log: TxnLog;
  readonly links: ZabLinks;
  readonly snapshots: SnapshotPort;
  /** Sends to another server's election port; only the newest message to each server counts. */
  elect(to: ServerId, message: ElectionMessage): void;
  /** A received snapshot is installed: load the tree from it, now. */
  install(): void;
  /**
   * This server's role, or its phase in it, changed; see the replica's `membership` and
   * `isServing`.
   */
  roleChanged(): void;
  /**
   * The ensemble's configuration changed, or one that may come into force became known; see
   * `zab.members`.
   */
  membersChanged?(): void;
  /** An event for operators. */
  note(event: ReplicaEvent): void;
  /** There is room again: read this connection on. */
  resume(connection: ConnectionRef): void;
  /** A connection is about to be closed because of what its client sent. */
  refused?(connection: ConnectionRef, refusal: ConnectionRefusal): void;
  /** A connection that stays open sent a wrong password: a driver may delay its requests. */
  wrongPassword?(connection: ConnectionRef): void;
  /**
   * A client's write has its sequence number, which its transaction carries as `originSeq`. The
   * request is lent for the call; the decoder must stand before the parts of a multi afterwards.
   * For observers.
   */
  requested?(sequence: number, connection: Connection, request: Request): void;
  /** One op of a committed transaction was applied. For observers. */
  applied?(header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void;
}
