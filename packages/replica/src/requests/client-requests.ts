import {
  assert,
  type ByteSlice,
  type ConnectionRef,
  composeZxid,
  ErrorCode,
  isWrite,
  OpCode,
  type Request,
  setSlice,
  WireError,
  type Zxid,
} from "@zooid/model";
import type { AuthPackets } from "../auth/auth-packets.ts";
import type { Admission } from "../connections/admission.ts";
import type { Connection } from "../connections/connection.ts";
import type { WatchBudget } from "../connections/watch-budget.ts";
import type { SessionParts } from "../parts/sessions.ts";
import type { LocalReads } from "../reads/local-reads.ts";
import type { ConnectionRefusal } from "../sinks.ts";
import type { ClientSyncs } from "./client-syncs.ts";
import type { ClientWrites } from "./client-writes.ts";
import type { HistoryRequests } from "./history-requests.ts";
import { isServed } from "./served-operations.ts";
import type { SetWatches } from "./set-watches.ts";
import type { WaitingRequests } from "./waiting-requests.ts";

interface Parts extends SessionParts {
  readonly admission: Admission;
  readonly authPackets: AuthPackets;
  readonly clientWrites: ClientWrites;
  readonly historyRequests: HistoryRequests;
  readonly reads: LocalReads;
  readonly setWatches: SetWatches;
  readonly syncs: ClientSyncs;
  readonly waiting: WaitingRequests;
  readonly watchBudget: WatchBudget;
}

/**
 * Receives the requests of this server's clients and answers those that are no writes, in the order
 * of each connection. A read behind an unanswered write of its connection waits:
 * 1. The client sends a write and then a read on the same connection, to server S2.
 * 2. S2 forwards the write to the leader S1.
 * 3. If S2 answered the read at once, the client would not see its own write, and the answers would
 *    not have the order of the requests. So S2 keeps the read until it has applied the write.
 */
export class ClientRequests {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Takes one frame of an open connection.
   *
   * @returns false when no more may be read for now
   */
  receive(ref: ConnectionRef, bytes: Uint8Array, start: number, end: number): boolean {
    const { tools, connections, counters, frame, request, servingState, admission } = this.#parts;
    const connection = connections.get(ref);
    if (connection === undefined || connection.phase !== "open") return false;
    assert(connection.heldWrite === undefined, "a connection is not read while a write of it is held");
    setSlice(frame, bytes, start, end);
    try {
      tools.requests.open(bytes, start, end, request);
    } catch {
      connections.refuse(connection, "unreadable-request");
      return false;
    }
    counters.received(connection);
    const { op } = request;
    if (op === OpCode.AUTH) return this.#parts.authPackets.receive(connection, request, frame);
    if (op === OpCode.SASL) return this.#parts.authPackets.receiveSasl(connection, request, frame);
    if (!this.#mayRequest(connection, request)) return false;
    const { session } = connection;
    assert(session !== undefined, "an open connection has a session");
    // Requests after the one that closes the session are dropped, as if they had come too late.
    if (session.closing) return true;
    session.touchedMs = servingState.nowMs;
    if (isWrite(op)) this.#parts.clientWrites.write(connection, session, request, frame);
    else this.#answerInOrder(connection, request, frame);
    return admission.admits(connection);
  }

  /** Carries out a write that was kept. */
  carryOut(connection: Connection, kept: Uint8Array): void {
    const { tools, frame, request } = this.#parts;
    const { session } = connection;
    if (session === undefined || session.closing) return;
    setSlice(frame, kept, 0, kept.length);
    tools.requests.open(kept, 0, kept.length, request);
    this.#parts.clientWrites.write(connection, session, request, frame, true);
  }

  /**
   * Whether the client is authenticated as this server wants it, and knows only operations that are
   * served.
   */
  #mayRequest(connection: Connection, { op, xid }: Request): boolean {
    if (!this.#parts.auth.mayAsk(connection.identities)) {
      this.#refuse(
        connection,
        op,
        xid,
        composeZxid(0, 0),
        ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH,
        "unauthenticated",
      );
      return false;
    }
    if (!isServed(op, this.#parts.tools.history !== undefined)) {
      this.#refuse(connection, op, xid, -1, ErrorCode.UNIMPLEMENTED, "unknown-operation");
      return false;
    }
    return true;
  }

  /** Answers with an error, and closes the connection. */
  #refuse(
    connection: Connection,
    op: number,
    xid: number,
    zxid: Zxid | -1,
    code: ErrorCode,
    why: ConnectionRefusal,
  ): void {
    const { sinks, counters, connections, servingState } = this.#parts;
    sinks.replies.header(connection.ref, xid, zxid, code);
    counters.answered(connection, op, xid, zxid, servingState.nowMs);
    connections.refuse(connection, why);
  }

  #answerInOrder(connection: Connection, request: Request, frame: Readonly<ByteSlice>): void {
    const { servingState, waiting } = this.#parts;
    const { op } = request;
    if (op === OpCode.GET_PAST || op === OpCode.GET_CHANGES) connection.history = "waiting";
    if (op === OpCode.SYNC) {
      if (servingState.isReadOnly) this.#parts.clientWrites.refuseReadOnly(connection, request.op, request.xid);
      else this.#parts.syncs.sync(connection, request, frame);
    }
    // rule: reads-wait-behind-writes
    else if (connection.mustWait) waiting.waitToRead(connection, request, frame);
    // rule: no-reads-in-the-middle-of-a-transaction
    else if (servingState.isApplying && request.op !== OpCode.PING) {
      waiting.waitToRead(connection, request, frame);
      waiting.holdBack(connection);
    } else this.answer(connection, request, frame, servingState.nowMs);
  }

  /** Answers a request in its turn. The decoder has opened the frame into the request. */
  answer(connection: Connection, request: Request, frame: Readonly<ByteSlice>, receivedMs: number): void {
    const { ref } = connection;
    const { op, xid } = request;
    if (op === OpCode.AUTH) return this.#parts.authPackets.answer(connection, request, receivedMs);
    if (op === OpCode.SASL) return this.#parts.authPackets.answerWaitingSasl(connection, xid, receivedMs);
    if (op === OpCode.CLOSE_SESSION) return this.#parts.clientWrites.closeLocalSession(connection, xid, receivedMs);
    const { tools, sinks, servingState } = this.#parts;
    const { visible } = servingState;
    let isReadable = true;
    try {
      tools.requests.body(request);
      // Only refused writes come here.
      if (isWrite(op)) sinks.replies.header(ref, xid, visible, this.#parts.clientWrites.refusalOf(connection, request));
      else if (op === OpCode.SET_WATCHES || op === OpCode.SET_WATCHES2) {
        if (!this.#parts.setWatches.begin(connection, request, frame, receivedMs)) return;
      } else if (op === OpCode.GET_PAST || op === OpCode.GET_CHANGES) {
        if (!this.#parts.historyRequests.begin(connection, request, receivedMs)) return;
      } else this.#parts.reads.answer(connection, request, tools.requests, visible);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      isReadable = false;
    }
    if (!isReadable) sinks.replies.header(ref, xid, visible, ErrorCode.MARSHALLING_ERROR);
    if (connection.history === "waiting" && (op === OpCode.GET_PAST || op === OpCode.GET_CHANGES))
      connection.history = "none";
    this.answered(connection, op, xid, receivedMs);
  }

  /** A request that is no write was answered, and may have armed watches. */
  answered(connection: Connection, op: number, xid: number, receivedMs: number): void {
    const { counters, servingState, watchBudget, connections, request } = this.#parts;
    const path = request.hasPath ? request.path : undefined;
    counters.answered(connection, op, xid, servingState.visible, receivedMs, path);
    if (connection.phase === "open" && !watchBudget.admits(connection.ref)) {
      connections.refuse(connection, "watch-limit");
    }
  }
}
