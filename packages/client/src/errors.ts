import {
  ArgumentError,
  ErrorCode,
  type ErrorName,
  errorJson,
  errorName,
  formatZxid,
  type HistoryReach,
  keepCode,
  misfit,
  rules,
  type TimeFault,
  timeFaultText,
} from "@zooid/model";

/** Faults that the client itself finds, which no server reports. */
const LOCAL_ERRNO = {
  /** The client was closed, by its user or because its session ended and `onExpiry` is `close`. */
  CLIENT_CLOSED: -1001,
  /** The queue of waiting calls is full. */
  QUEUE_FULL: -1002,
  /** A request larger than `frameBytesMax`, or an answer larger than `responseBytesMax`. */
  PACKET_TOO_LARGE: -1003,
  INVALID_PATH: -1004,
  /** Certificates do not allow a connection to any server. */
  TLS_FAILED: -1005,
} as const;

export type LocalErrorName = keyof typeof LOCAL_ERRNO;
export type ZkErrorCode = ErrorName | LocalErrorName | `ERROR_${number}`;

/**
 * The outcome of a failed request: it never left this process, it may or may not have been carried
 * out, or the server refused it.
 */
export type Outcome = "not-sent" | "unknown" | "rejected";

export interface ZkErrorDetail {
  readonly code: ZkErrorCode;
  /** The operation, by the name of the client's method. */
  readonly op: string;
  /** The path as the caller gave it. */
  readonly path?: string | undefined;
  readonly outcome: Outcome;
  /** Replaces the code's default message. */
  readonly message?: string | undefined;
  /** A detail beyond the code; appended to the code's default message. */
  readonly reason?: string | undefined;
  /** Whether the request changes nothing, for the message. */
  readonly isRead?: boolean | undefined;
  /** The range of the history, with HISTORY_GONE. */
  readonly reach?: HistoryReach | undefined;
  /** Why a time stands for no transaction of the history. */
  readonly timeFault?: TimeFault | undefined;
}

/**
 * Why an operation failed. `code` is the name in ZooKeeper's table of errors, or one of the
 * client's own; test it with {@link isZkError}, which also holds where a program has two copies of
 * this package.
 */
export class ZkError extends Error {
  override readonly name: string = "ZkError";
  readonly code: ZkErrorCode;
  /** The code's number: the protocol's, or below -1000 for the client's own. */
  readonly errno: number;
  readonly op: string;
  readonly path: string | undefined;
  readonly outcome: Outcome;
  /** A detail beyond the code, such as sizes and limits; missing where none is known. */
  declare readonly reason?: string;
  /**
   * With HISTORY_GONE the first and the last transaction that the server's history can answer for;
   * missing where there is none yet.
   */
  declare readonly reach?: HistoryReach;
  /**
   * Why a time stands for no transaction of the server's history: with HISTORY_GONE for a time
   * before it (`before`), behind it (`behind`) or in a gap (`gap`); with BAD_ARGUMENTS where a
   * clock went back across it (`twice`), with the transactions behind which it was that time.
   */
  declare readonly timeFault?: TimeFault;

  constructor(detail: ZkErrorDetail, options?: ErrorOptions) {
    super(textOf(detail), options);
    this.code = detail.code;
    this.errno = errnoOf(detail.code);
    this.op = detail.op;
    this.path = detail.path;
    this.outcome = detail.outcome;
    if (detail.reason !== undefined) this.reason = detail.reason;
    if (detail.reach !== undefined) this.reach = detail.reach;
    if (detail.timeFault !== undefined) this.timeFault = detail.timeFault;
    keepCode(this, this.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }

  /**
   * Whether the request may have reached a server: where a connection was lost, true says that the
   * outcome is unknown.
   */
  get sentBytes(): boolean {
    return this.outcome !== "not-sent";
  }

  /**
   * Whether the same request may succeed later without any other change. It says nothing about the
   * outcome of this one.
   */
  get retriable(): boolean {
    return RETRIABLE.has(this.code);
  }
}

/**
 * The connection failed or was refused for now: CONNECTION_LOSS, OPERATION_TIMEOUT, SESSION_MOVED,
 * NOT_READ_ONLY, THROTTLED_OP …
 */
export class ZkConnectionError extends ZkError {
  override readonly name = "ZkConnectionError";
}
/**
 * There is no session, and maybe none will follow: SESSION_EXPIRED, AUTH_FAILED, CLIENT_CLOSED …
 */
export class ZkSessionError extends ZkError {
  override readonly name = "ZkSessionError";
}
/**
 * The tree is not in the state that the request requires: NO_NODE, NODE_EXISTS, NOT_EMPTY,
 * BAD_VERSION, NO_CHILDREN_FOR_EPHEMERALS …
 */
export class ZkNodeError extends ZkError {
  override readonly name = "ZkNodeError";
}
/** NO_AUTH, INVALID_ACL, QUOTA_EXCEEDED. */
export class ZkPermissionError extends ZkError {
  override readonly name = "ZkPermissionError";
}
/**
 * The request is invalid, at least for this server: BAD_ARGUMENTS, MARSHALLING_ERROR,
 * UNIMPLEMENTED, INVALID_PATH …
 */
export class ZkRequestError extends ZkError {
  override readonly name = "ZkRequestError";
}
/** SYSTEM_ERROR and related codes. */
export class ZkServerError extends ZkError {
  override readonly name = "ZkServerError";
}

/** One op of a failed transaction, and the server's result for it. */
export interface FailedOp {
  readonly op: string;
  readonly path: string;
  /**
   * `OK` for an op before the failed one: rolled back; `RUNTIME_INCONSISTENCY` for one behind it:
   * not tried.
   */
  readonly code: ZkErrorCode;
}

/** A transaction that was refused as a whole because of one op. `code` and `path` are that op's. */
export class TransactionError extends ZkError {
  override readonly name = "TransactionError";
  readonly failedIndex: number;
  readonly ops: readonly FailedOp[];

  constructor(ops: readonly FailedOp[]) {
    if (!Array.isArray(ops)) throw new ArgumentError("TransactionError", [misfit("ops", ops, rules.list)]);
    const failedIndex = ops.findIndex(({ code }) => code !== "OK");
    const failed = ops[failedIndex] ?? { op: "transaction", path: "", code: "SYSTEM_ERROR" as const };
    super({
      code: failed.code,
      op: "transaction",
      path: failed.path,
      outcome: "rejected",
      message: `the transaction was refused at op ${failedIndex + 1} of ${ops.length}, ${failed.op} ${failed.path}: ${meaningOf(failed.code)}`,
    });
    this.failedIndex = failedIndex;
    this.ops = ops;
  }

  get failedOp(): FailedOp | undefined {
    return this.ops[this.failedIndex];
  }
}

/**
 * Whether a thrown value is a {@link ZkError}, with that code where one is given; of this copy of
 * the package or another.
 */
export function isZkError(error: unknown, code?: ZkErrorCode): error is ZkError {
  if (!(error instanceof Error) || !("code" in error) || !("outcome" in error) || !("errno" in error)) return false;
  return code === undefined || error.code === code;
}

export function zkError(detail: ZkErrorDetail, options?: ErrorOptions): ZkError {
  return new (KINDS.get(detail.code)?.of ?? ZkServerError)(detail, options);
}

/** The same error for the method that the caller used, and the path as the caller gave it. */
export function renamedError(error: ZkError, op: string, path: string): ZkError {
  if (error.op === op && error.path === path) return error;
  const { code, outcome, reach, reason, timeFault } = error;
  const detail = { code, op, path, outcome, reach, reason, timeFault, isRead: true };
  return error.cause === undefined ? zkError(detail) : zkError(detail, { cause: error.cause });
}

/** Gives the error the present stack, without the frame of `caller`. */
export function captureStack(error: ZkError, caller: (...args: never[]) => unknown = captureStack): void {
  Error.captureStackTrace(error, caller);
  keepCode(error, error.code);
}

/** The error for a refusal, by the number that the server answered. */
export function refusalError(errno: number, op: string, path?: string, reason?: string): ZkError {
  return zkError({ code: errorName(errno), op, path, outcome: "rejected", reason });
}

/** The error for a question that the server's history does not reach. */
export function historyGone(reach: HistoryReach | undefined, op: string, path: string): ZkError {
  const reason =
    reach === undefined
      ? "it has nothing yet"
      : `it begins at ${formatZxid(reach.first)} and ends at ${formatZxid(reach.last)}`;
  return zkError({ code: "HISTORY_GONE", op, path, outcome: "rejected", reach, reason });
}

/** The error for a time that stands for no transaction of the server's history. */
export function timeRefused(
  timeFault: TimeFault,
  { reach, op, path }: { readonly reach: HistoryReach | undefined; readonly op: string; readonly path: string },
): ZkError {
  const code = timeFault.kind === "twice" ? "BAD_ARGUMENTS" : "HISTORY_GONE";
  return zkError({ code, op, path, outcome: "rejected", reach, timeFault, reason: timeFaultText(timeFault) });
}

/** The error for an answer whose body does not fit the operation. */
export function unreadableError(op: string, path: string, cause?: Error): ZkError {
  const message = `${op} ${path}: the answer could not be read (MARSHALLING_ERROR); whether the request was carried out is unknown`;
  const options = cause === undefined ? undefined : { cause };
  return zkError({ code: "MARSHALLING_ERROR", op, path, outcome: "unknown", message }, options);
}

/** A thrown value as an error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** @throws ArgumentError for what is no detail */
function textOf(detail: ZkErrorDetail): string {
  if (!rules.text.accepts(detail?.code)) throw new ArgumentError("ZkError", [misfit("code", detail?.code, rules.text)]);
  return detail.message ?? describe(detail);
}

function errnoOf(code: ZkErrorCode): number {
  if (code in LOCAL_ERRNO) return LOCAL_ERRNO[code as LocalErrorName];
  if (code in ErrorCode) return ErrorCode[code as ErrorName];
  return Number(code.slice("ERROR_".length));
}

function describe({ code, op, path, outcome, reason, isRead }: ZkErrorDetail): string {
  const where = path === undefined || path === "" ? op : `${op} ${path}`;
  const doubt = outcome === "unknown" ? (isRead === true ? READ_DOUBT : WRITE_DOUBT) : "";
  return `${where}: ${meaningOf(code)}${doubt}${reason === undefined ? "" : `; ${reason}`}`;
}

const READ_DOUBT = "; the request was sent, and as a read it has changed nothing";
const WRITE_DOUBT = "; the request was sent, so it may or may not have been carried out";

function meaningOf(code: ZkErrorCode): string {
  const meaning = KINDS.get(code)?.meaning;
  return meaning === undefined ? `the server answered ${code}` : `${meaning} (${code})`;
}

type ErrorClass = new (detail: ZkErrorDetail, options?: ErrorOptions) => ZkError;

const KINDS: ReadonlyMap<ZkErrorCode, { readonly of: ErrorClass; readonly meaning?: string }> = new Map([
  ["CONNECTION_LOSS", { of: ZkConnectionError, meaning: "the connection to the server was lost" }],
  ["OPERATION_TIMEOUT", { of: ZkConnectionError, meaning: "no answer came in the time that the call allowed" }],
  ["REQUEST_TIMEOUT", { of: ZkConnectionError, meaning: "no answer came in time" }],
  ["SESSION_MOVED", { of: ZkConnectionError, meaning: "the session is now served elsewhere" }],
  ["NOT_READ_ONLY", { of: ZkConnectionError, meaning: "the server is in read-only mode, which refuses writes" }],
  ["THROTTLED_OP", { of: ZkConnectionError, meaning: "the server was too busy and did not carry the request out" }],
  [
    "QUEUE_FULL",
    { of: ZkConnectionError, meaning: "as many calls wait to be sent as waitingMax and waitingBytesMax allow" },
  ],
  ["TLS_FAILED", { of: ZkConnectionError, meaning: "certificates do not allow a connection" }],
  ["SESSION_EXPIRED", { of: ZkSessionError, meaning: "the session has expired, and its ephemeral nodes with it" }],
  ["UNKNOWN_SESSION", { of: ZkSessionError, meaning: "the server does not know the session" }],
  ["AUTH_FAILED", { of: ZkSessionError, meaning: "the server refused the credentials" }],
  ["SESSION_CLOSED_REQUIRE_SASL_AUTH", { of: ZkSessionError, meaning: "the server wants clients to authenticate" }],
  ["CLIENT_CLOSED", { of: ZkSessionError, meaning: "the client is closed" }],
  ["NO_NODE", { of: ZkNodeError, meaning: "there is no such node" }],
  ["NODE_EXISTS", { of: ZkNodeError, meaning: "the node exists already" }],
  ["NOT_EMPTY", { of: ZkNodeError, meaning: "the node has children" }],
  ["BAD_VERSION", { of: ZkNodeError, meaning: "the version is not the node's" }],
  ["NO_CHILDREN_FOR_EPHEMERALS", { of: ZkNodeError, meaning: "an ephemeral node can have no children" }],
  ["EPHEMERAL_ON_LOCAL_SESSION", { of: ZkNodeError, meaning: "a local session can have no ephemeral nodes" }],
  ["NO_WATCHER", { of: ZkNodeError, meaning: "there is no such watch" }],
  ["NO_AUTH", { of: ZkPermissionError, meaning: "the access list does not permit it" }],
  ["INVALID_ACL", { of: ZkPermissionError, meaning: "the server does not accept the access list" }],
  ["QUOTA_EXCEEDED", { of: ZkPermissionError, meaning: "it would exceed the quota" }],
  ["HISTORY_GONE", { of: ZkRequestError, meaning: "the server's history does not reach that moment" }],
  ["BAD_ARGUMENTS", { of: ZkRequestError, meaning: "the server does not accept the arguments" }],
  ["MARSHALLING_ERROR", { of: ZkRequestError, meaning: "the server could not read the request" }],
  ["UNIMPLEMENTED", { of: ZkRequestError, meaning: "the server does not know the operation, or has it disabled" }],
  ["NEW_CONFIG_NO_QUORUM", { of: ZkRequestError }],
  ["RECONFIG_IN_PROGRESS", { of: ZkRequestError }],
  ["RECONFIG_DISABLED", { of: ZkRequestError, meaning: "reconfiguration is disabled" }],
  ["PACKET_TOO_LARGE", { of: ZkRequestError, meaning: "larger than frameBytesMax or responseBytesMax allows" }],
  ["INVALID_PATH", { of: ZkRequestError, meaning: "not a valid path" }],
]);

const RETRIABLE: ReadonlySet<ZkErrorCode> = new Set<ZkErrorCode>([
  "CONNECTION_LOSS",
  "OPERATION_TIMEOUT",
  "REQUEST_TIMEOUT",
  "SESSION_MOVED",
  "THROTTLED_OP",
  "QUEUE_FULL",
]);
