import type {
  ConnectionRef,
  ElectionMessage,
  LinkRef,
  PeerMessage,
  ServerId,
  TxnHeader,
  TxnOp,
  Zxid,
} from "@zooid/model";
import type { ConnectionRefusal, ReplicaEvent } from "@zooid/replica";
import type { RestoreEnd } from "@zooid/zab";
import type { Answer } from "./answers.ts";
import type { RestoringState } from "./state-image.ts";

/**
 * Receives what a simulated server does, call by call, in virtual time.
 *
 * @typeParam Server the simulated server, which calls its watcher with itself
 */
export interface ServerWatcher<Server> {
  /**
   * A reply, a watch event or the end of a connection is sent to a client. Not called where
   * `ServerOptions.replies` is set.
   */
  replied?(server: Server, to: ConnectionRef, xid: number, zxid: number, answer: Answer): void;
  /** A transaction is about to be applied; its first op. */
  applying?(server: Server, header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void;
  /** A transaction was applied completely, in a replay too. */
  applied?(server: Server, header: Readonly<TxnHeader>): void;
  /**
   * The tree was replaced by a snapshot: one that was received, or the one that the log continues.
   */
  loaded?(server: Server): void;
  /** A leader appends entries to its log, which is when they are proposed. */
  proposed?(server: Server, bytes: Uint8Array, start: number, end: number): void;
  /** A leader is about to install a state of the past, which is to stand at a zxid. */
  restoring?(server: Server, zxid: Zxid, restored: RestoringState): void;
  restoreEnded?(server: Server, end: RestoreEnd): void;
  /** After each step of a server. */
  stepped?(server: Server): void;
  sent?(server: Server, link: LinkRef, message: PeerMessage): void;
  /** A message of another server arrived; the server has not handled it yet. */
  received?(server: Server, link: LinkRef, message: PeerMessage): void;
  voted?(server: Server, to: ServerId, message: ElectionMessage): void;
  noted?(server: Server, event: ReplicaEvent): void;
  /** A learner gave up a snapshot before its chunk number `nextChunk`. */
  snapshotAbandoned?(server: Server, nextChunk: number): void;
  /** A connection is about to be closed for what its client requested. */
  refused?(server: Server, ref: ConnectionRef, refusal: ConnectionRefusal): void;
  /** A server is about to read a frame of a connection. */
  reading?(server: Server, ref: ConnectionRef): void;
  /** A connection has too much unanswered and is not read until there is room. */
  stalled?(server: Server): void;
  /** A batch of proposals was full, and another one follows in the next turn. */
  batchLeft?(): void;
  /** A step threw, or the disk failed. Without this method the error is thrown. */
  failed?(server: Server, error: unknown): void;
}
