/** Errors as `application/problem+json` (RFC 9457), with ZooKeeper's code where it has one. */
import { isZkError, TransactionError, ZkError } from "@zooid/client";
import { MemberRuleError } from "@zooid/model/membership";
import { TooManyUsersError } from "../access/user-clients.ts";

export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail?: string | undefined;
  /** ZooKeeper's name of the error, such as `NO_NODE`, or one of the console's own. */
  readonly code: string;
  readonly errno?: number | undefined;
  readonly path?: string | undefined;
  /**
   * Outcome of a write that failed: `rejected`, `not-sent`, or `unknown`, where it may have been
   * carried out.
   */
  readonly outcome?: string | undefined;
  /** Position of the refused operation in a transaction, from 0. */
  readonly failedIndex?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** A request that is refused. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail ?? problem.title);
    this.problem = problem;
  }
}

export function refuse(status: number, code: string, title: string, more: Partial<Problem> = {}): ProblemError {
  return new ProblemError({ status, code, title, ...more });
}

/** HTTP statuses of ZooKeeper's errors. */
const STATUSES: Readonly<Record<string, number>> = {
  NO_NODE: 404,
  NODE_EXISTS: 409,
  NOT_EMPTY: 409,
  NO_CHILDREN_FOR_EPHEMERALS: 409,
  BAD_VERSION: 412,
  NO_AUTH: 403,
  INVALID_ACL: 422,
  QUOTA_EXCEEDED: 422,
  BAD_ARGUMENTS: 400,
  INVALID_PATH: 400,
  PACKET_TOO_LARGE: 413,
  AUTH_FAILED: 401,
  THROTTLED_OP: 429,
  HISTORY_GONE: 410,
  UNIMPLEMENTED: 501,
  QUEUE_FULL: 503,
  CONNECTION_LOSS: 503,
  OPERATION_TIMEOUT: 504,
  SESSION_EXPIRED: 503,
  SESSION_MOVED: 503,
  NOT_READ_ONLY: 503,
  CLIENT_CLOSED: 503,
  RECONFIG_IN_PROGRESS: 409,
  NEW_CONFIG_NO_QUORUM: 409,
};

/** The problem that a user reads; undefined for an error that is a defect. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof TooManyUsersError) {
    return { status: 503, code: "TOO_MANY_USERS", title: error.message, retryAfterSeconds: 60 };
  }
  if (error instanceof MemberRuleError) {
    return { status: 422, code: error.rule, title: "The ensemble cannot be changed like this", detail: error.message };
  }
  if (!(error instanceof ZkError) && !isZkError(error)) return undefined;
  const { code, errno, path, outcome, message } = error;
  // The client's message names an option of its own.
  const detail =
    code === "NO_NODE" && error.op === "create"
      ? `the parent of ${path} is missing: create it before, or POST /node with "parents": true`
      : message;
  const failedIndex = error instanceof TransactionError ? error.failedIndex : undefined;
  return {
    status: STATUSES[code] ?? 502,
    code,
    title: titleOf(code),
    detail,
    errno,
    path,
    outcome,
    failedIndex,
  };
}

export function problemJson({ retryAfterSeconds: _, ...problem }: Problem): string {
  return JSON.stringify({ type: "about:blank", ...problem });
}

function titleOf(code: string): string {
  const words = code.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
