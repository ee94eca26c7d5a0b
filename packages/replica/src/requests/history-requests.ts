import {
  assert,
  copyRange,
  ErrorCode,
  type HistoryAnswer,
  type HistoryQuery,
  isValidPath,
  MomentUnit,
  OpCode,
  PastPart,
  type Request,
  setSlice,
  type Zxid,
} from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { SessionParts } from "../parts/sessions.ts";
import { mightRead, pastRefusal } from "../reads/past-rights.ts";
import type { HistoryAccess } from "../tools.ts";

interface Parts extends SessionParts {
  readonly requests: {
    answered(connection: Connection, op: number, xid: number, receivedMs: number): void;
  };
  readonly waiting: { release(connection: Connection): void };
}

/** A question that the history reads for. */
interface PendingQuestion {
  readonly connection: Connection;
  readonly op: number;
  readonly xid: number;
  readonly path: Uint8Array;
  readonly receivedMs: number;
}

const PARTS: ReadonlySet<number> = new Set(Object.values(PastPart));
/** Bytes of an answer that count as a unit of work. */
const BYTES_PER_WORK_LOG2 = 12;

/**
 * Questions about the past. Their answers come from files, outside of the tree and later; a
 * connection has one at a time, and nothing is read from it meanwhile.
 */
export class HistoryRequests {
  readonly #parts: Parts;
  readonly #pending = new Map<number, PendingQuestion>();
  #lastSerial = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Answers a question that is refused, or begins to read for it. The body was read.
   *
   * @returns false when it is not answered yet
   */
  begin(connection: Connection, request: Request, receivedMs: number): boolean {
    const { sinks, servingState } = this.#parts;
    const { op, path, xid } = request;
    const code = this.#refusal(connection, request);
    if (code !== ErrorCode.OK) {
      sinks.replies.header(connection.ref, xid, servingState.visible, code);
      return true;
    }
    connection.history = "read";
    const copy = copyRange(path.bytes, path.start, path.end);
    const serial = ++this.#lastSerial;
    this.#pending.set(serial, { connection, op, xid, path: copy, receivedMs });
    this.#history.read(serial, queryOf(request, copy));
    return false;
  }

  /** The history has been read for a question. */
  read(serial: number, answer: HistoryAnswer): void {
    const pending = this.#pending.get(serial);
    if (pending === undefined) return;
    this.#pending.delete(serial);
    const { connection, op, xid, path, receivedMs } = pending;
    if (connection.phase !== "open") return;
    const { request, requests, waiting } = this.#parts;
    this.#answer(pending, answer);
    this.#touchWaiting();
    connection.history = "none";
    request.hasPath = true;
    setSlice(request.path, path, 0, path.length);
    requests.answered(connection, op, xid, receivedMs);
    waiting.release(connection);
  }

  /** The role has ended, and its connections are closed. */
  clear(): void {
    this.#pending.clear();
  }

  /** No ping of these is read meanwhile. */
  #touchWaiting(): void {
    const { nowMs } = this.#parts.servingState;
    for (const { connection } of this.#pending.values()) {
      if (connection.phase === "open" && connection.session !== undefined) connection.session.touchedMs = nowMs;
    }
  }

  get #history(): HistoryAccess {
    const { history } = this.#parts.tools;
    assert(history !== undefined, "a server without a history does not know these operations");
    return history;
  }

  #refusal(connection: Connection, { hasPath, mode, op, path, relativeZxid, version }: Request): ErrorCode {
    if (!hasPath) return ErrorCode.MARSHALLING_ERROR;
    const isValid = isValidPath(path.bytes, path.start, path.end) && relativeZxid >= 0;
    const isMoment = (mode === MomentUnit.ZXID || mode === MomentUnit.TIME_MS) && PARTS.has(version);
    if (!isValid || !(op === OpCode.GET_PAST ? isMoment : version >= 1)) return ErrorCode.BAD_ARGUMENTS;
    return pastRefusal(this.#parts, connection, path);
  }

  #answer({ connection, xid }: PendingQuestion, answer: HistoryAnswer): void {
    const { sinks, servingState } = this.#parts;
    const refuse = (code: ErrorCode): void => sinks.replies.header(connection.ref, xid, servingState.visible, code);
    switch (answer.kind) {
      case "unknown":
        return refuse(ErrorCode.HISTORY_GONE);
      case "failed":
        return refuse(ErrorCode.SYSTEM_ERROR);
      case "no-node":
        return refuse(ErrorCode.NO_NODE);
      case "too-large":
        return refuse(ErrorCode.QUOTA_EXCEEDED);
      case "node": {
        const { node } = answer;
        if (!mightRead(this.#parts, connection, node.acl)) return refuse(ErrorCode.NO_AUTH);
        return this.#send(connection, xid, this.#history.encodeNode(node));
      }
      case "children": {
        if (!mightRead(this.#parts, connection, answer.acl)) return refuse(ErrorCode.NO_AUTH);
        return this.#send(connection, xid, this.#history.encodeChildren(answer));
      }
      case "changes": {
        const changes = answer.changes.map(({ acl, ...change }) => {
          const isReadable = mightRead(this.#parts, connection, acl);
          return isReadable ? { ...change, isReadable } : { ...change, isReadable, data: null };
        });
        return this.#send(connection, xid, this.#history.encodeChanges({ ...answer, changes }));
      }
    }
  }

  #send({ ref }: Connection, xid: number, bytes: Uint8Array): void {
    const { requestWork, servingState, sinks } = this.#parts;
    requestWork.count += bytes.length >> BYTES_PER_WORK_LOG2;
    sinks.replies.token(ref, xid, servingState.visible, ErrorCode.OK, bytes);
  }
}

function queryOf({ mode, op, relativeZxid, version }: Request, path: Uint8Array): HistoryQuery {
  const zxid = relativeZxid as Zxid;
  if (op === OpCode.GET_PAST) {
    const kind = version === PastPart.CHILDREN ? "children" : "node";
    return { kind, path, at: mode === MomentUnit.ZXID ? { zxid } : { timeMs: relativeZxid } };
  }
  return { kind: "changes", path, after: zxid, countMax: version };
}
