import { adminCommand, isZkError } from "@zooid/client";
import type { ServerStatus as StatusOf } from "@zooid/model/membership";
import type { Invocation } from "../command.ts";
import { parseServerReport, type ServerReport } from "../texts/server-report.ts";

const ANSWER_MS = 5_000;

/** A server's report, or the reason why there is none. */
export type ServerStatus = StatusOf<ServerReport>;

/** Sends `srvr` to a server. It never throws, except when the user cancels. */
export async function askServer(
  server: string,
  { connection, signal }: Pick<Invocation, "connection" | "signal">,
  timeoutMs: number = ANSWER_MS,
): Promise<ServerStatus> {
  try {
    const answer = await adminCommand(server, "srvr", { signal, ...connection.security, timeoutMs });
    return parseServerReport(answer) ?? (answer.trim().split("\n")[0] || "an empty answer");
  } catch (error) {
    signal.throwIfAborted();
    return silenceText(error);
  }
}

/** Why a server does not answer. */
export function silenceText(error: unknown): string {
  if (isZkError(error, "OPERATION_TIMEOUT")) return "no answer in time";
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
