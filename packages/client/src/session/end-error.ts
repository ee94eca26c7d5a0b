import { type ZkError, zkError } from "../errors.ts";
import type { SessionEnd } from "./session.ts";

const END_CODE = { closed: "CLIENT_CLOSED", expired: "SESSION_EXPIRED", "auth-failed": "AUTH_FAILED" } as const;

export interface EndDetail {
  readonly path?: string | undefined;
  readonly wasSent?: boolean;
  /** Why the server refused to authenticate the client. */
  readonly reason?: string | undefined;
}

/** The error of a call that the end of the session leaves without an answer. */
export function endError(end: SessionEnd, op: string, { path, wasSent = false, reason }: EndDetail = {}): ZkError {
  return zkError({ code: END_CODE[end], op, path, outcome: wasSent ? "unknown" : "not-sent", reason });
}
