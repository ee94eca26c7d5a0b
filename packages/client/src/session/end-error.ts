import { type ZkError, zkError } from "../errors.ts";
import type { SessionEnd } from "./session.ts";

const END_CODE = { closed: "CLIENT_CLOSED", expired: "SESSION_EXPIRED", "auth-failed": "AUTH_FAILED" } as const;

/** The error of a call that the end of the session leaves without an answer. */
export function endError(end: SessionEnd, op: string, path?: string, wasSent = false): ZkError {
  return zkError({ code: END_CODE[end], op, path, outcome: wasSent ? "unknown" : "not-sent" });
}
