import type { ConnectionRef, ElectionMessage, LinkRef, PeerMessage, ServerId, TxnHeader, TxnOp } from "@zooid/model";
import type { ConnectionRefusal, ReplicaEvent } from "@zooid/replica";
import type { Answer } from "./answers.ts";
import type { SimServer } from "./server.ts";

/** Receives what a simulated server does, call by call, in virtual time. */
export interface ServerWatcher {
  /**
   * A reply, a watch event or the end of a connection is sent to a client. Not called where
   * `ServerOptions.replies` is set.
   */
  replied?(server: SimServer, to: ConnectionRef, xid: number, zxid: number, answer: Answer): void;
  /** A transaction is about to be applied; its first op. */
  applying?(server: SimServer, header: Readonly<TxnHeader>, op: Readonly<TxnOp>): void;
  /** A transaction was applied completely, in a replay too. */
  applied?(server: SimServer, header: Readonly<TxnHeader>): void;
  /**
   * The tree was replaced by a snapshot: one that was received, or the one that the log continues.
   */
  loaded?(server: SimServer): void;
  /** A leader appends entries to its log, which is when they are proposed. */
  proposed?(server: SimServer, bytes: Uint8Array, start: number, end: number): void;
  /** After each step of a server. */
  stepped?(server: SimServer): void;
  sent?(server: SimServer, link: LinkRef, message: PeerMessage): void;
  /** A message of another server arrived; the server has not handled it yet. */
  received?(server: SimServer, link: LinkRef, message: PeerMessage): void;
  voted?(server: SimServer, to: ServerId, message: ElectionMessage): void;
  noted?(server: SimServer, event: ReplicaEvent): void;
  /** A learner gave up a snapshot before its chunk number `nextChunk`. */
  snapshotAbandoned?(server: SimServer, nextChunk: number): void;
  /** A connection is about to be closed for what its client requested. */
  refused?(server: SimServer, ref: ConnectionRef, refusal: ConnectionRefusal): void;
  /** A server is about to read a frame of a connection. */
  reading?(server: SimServer, ref: ConnectionRef): void;
  /** A connection has too much unanswered and is not read until there is room. */
  stalled?(server: SimServer): void;
  /** A batch of proposals was full, and another one follows in the next turn. */
  batchLeft?(): void;
  /** A step threw, or the disk failed. Without this method the error is thrown. */
  failed?(server: SimServer, error: unknown): void;
}
