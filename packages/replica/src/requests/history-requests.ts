import { shownPastData } from "@zooid/data-tree";
import {
  assert,
  assertNever,
  ChangesScope,
  copyRange,
  ErrorCode,
  type HistoryAnswer,
  type HistoryQuery,
  isValidPath,
  MomentUnit,
  OpCode,
  PastPart,
  type PastPlace,
  type PastRefusal,
  type Request,
  setSlice,
  type Zxid,
} from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { SessionParts } from "../parts/sessions.ts";
import { PastPage } from "../reads/past-page.ts";
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
  /** Where a page begins. */
  readonly after: Zxid;
  /** The page that waits for access lists, and of which nodes. */
  readonly asked: { readonly page: PastPage; readonly nodes: readonly PastPlace[] } | undefined;
}

const UNITS: ReadonlySet<number> = new Set(Object.values(MomentUnit));
const PARTS: ReadonlySet<number> = new Set(Object.values(PastPart));
const SCOPES: ReadonlySet<number> = new Set(Object.values(ChangesScope));
/** Bytes of an answer that count as a unit of work. */
const BYTES_PER_WORK_LOG2 = 12;

/**
 * Questions about the past. Their answers come from files, outside of the tree and later; a
 * connection has one at a time, and nothing is read from it meanwhile. Its rights are judged when
 * it asks, and again when the history has been read.
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
    const after = request.relativeZxid as Zxid;
    this.#ask({ connection, op, xid, path: copy, after, receivedMs, asked: undefined }, queryOf(request, copy));
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
    this.#touchWaiting(connection);
    if (!this.#answer(pending, answer)) return;
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
  #touchWaiting(answered: Connection): void {
    const { nowMs } = this.#parts.servingState;
    if (answered.session !== undefined) answered.session.touchedMs = nowMs;
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
    const isMeant = op === OpCode.GET_PAST ? UNITS.has(mode) && PARTS.has(version) : version >= 1 && SCOPES.has(mode);
    if (!isValid || !isMeant) return ErrorCode.BAD_ARGUMENTS;
    return pastRefusal(this.#parts, connection, path);
  }

  /** @returns false when more has to be read */
  #answer(pending: PendingQuestion, answer: HistoryAnswer): boolean {
    const { connection, path, xid } = pending;
    // The access lists may have changed while the history was read.
    const refusal = pastRefusal(this.#parts, connection, { bytes: path, start: 0, end: path.length });
    if (refusal !== ErrorCode.OK) return this.#refuse(connection, xid, refusal);
    switch (answer.kind) {
      case "unknown":
        return this.#refuseMoment(connection, xid, answer);
      case "failed":
        return this.#refuse(connection, xid, ErrorCode.SYSTEM_ERROR);
      case "no-node":
        return this.#refuse(connection, xid, ErrorCode.NO_NODE);
      case "too-large":
        return this.#refuse(connection, xid, ErrorCode.QUOTA_EXCEEDED);
      case "node": {
        const { node } = answer;
        if (!mightRead(this.#parts, connection, node.acl)) return this.#refuse(connection, xid, ErrorCode.NO_AUTH);
        const data = shownPastData(pending.path, node.data);
        return this.#send(connection, xid, this.#history.encodeNode({ ...node, data }));
      }
      case "children":
        return mightRead(this.#parts, connection, answer.acl)
          ? this.#send(connection, xid, this.#history.encodeChildren(answer))
          : this.#refuse(connection, xid, ErrorCode.NO_AUTH);
      case "changes":
        return this.#answerPage(pending, new PastPage(answer, pending));
      case "acls": {
        const { asked } = pending;
        assert(asked !== undefined, "access lists are read where a page needs them");
        asked.page.add(asked.nodes, answer.acls);
        return this.#answerPage(pending, asked.page);
      }
      default:
        return assertNever(answer);
    }
  }

  #answerPage(pending: PendingQuestion, page: PastPage): boolean {
    const { connection, xid } = pending;
    const step = page.step(this.#parts, connection);
    if (step.kind === "shown") return this.#send(connection, xid, this.#history.encodeChanges(step.page));
    this.#ask({ ...pending, asked: { page, nodes: step.nodes } }, { kind: "acls", nodes: step.nodes });
    return false;
  }

  #ask(pending: PendingQuestion, query: HistoryQuery): void {
    const serial = ++this.#lastSerial;
    this.#pending.set(serial, pending);
    this.#history.read(serial, query, pending.connection);
  }

  #refuse({ ref }: Connection, xid: number, code: ErrorCode): true {
    const { sinks, servingState } = this.#parts;
    sinks.replies.header(ref, xid, servingState.visible, code);
    return true;
  }

  #refuseMoment(connection: Connection, xid: number, { reach, fault }: Partial<PastRefusal>): true {
    if (reach === undefined && fault === undefined) return this.#refuse(connection, xid, ErrorCode.HISTORY_GONE);
    const { sinks, servingState } = this.#parts;
    // The history has both moments: the question has to name one.
    const code = fault?.kind === "twice" ? ErrorCode.BAD_ARGUMENTS : ErrorCode.HISTORY_GONE;
    const bytes = this.#history.encodeRefusal({ reach, fault });
    sinks.replies.token(connection.ref, xid, servingState.visible, code, bytes);
    return true;
  }

  #send({ ref }: Connection, xid: number, bytes: Uint8Array): true {
    const { requestWork, servingState, sinks } = this.#parts;
    requestWork.count += bytes.length >> BYTES_PER_WORK_LOG2;
    sinks.replies.token(ref, xid, servingState.visible, ErrorCode.OK, bytes);
    return true;
  }
}

function queryOf({ mode, op, relativeZxid, version }: Request, path: Uint8Array): HistoryQuery {
  const zxid = relativeZxid as Zxid;
  if (op === OpCode.GET_PAST) {
    const kind = version === PastPart.CHILDREN ? "children" : "node";
    return { kind, path, at: mode === MomentUnit.ZXID ? { zxid } : { timeMs: relativeZxid } };
  }
  const scope = mode === ChangesScope.SUBTREE ? "subtree" : "node";
  return { kind: "changes", path, scope, after: zxid, countMax: version };
}
