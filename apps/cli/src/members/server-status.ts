import { adminCommand, isZkError } from "@zooid/client";
import type { Invocation } from "../command.ts";
import { parseServerReport, type ServerReport } from "../texts/server-report.ts";

/** Modes of servers that serve all requests. */
export const SERVING: ReadonlySet<string> = new Set(["standalone", "leader", "follower", "observer"]);

const ANSWER_MS = 5_000;
const EPOCH_SHIFT = 32n;

/** A server's report, or the reason why there is none. */
export type ServerStatus = ServerReport | string;

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
    if (isZkError(error, "OPERATION_TIMEOUT")) return "no answer in time";
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return cause instanceof Error ? cause.message : String(cause);
  }
}

export function isServing(status: ServerStatus | undefined): boolean {
  return typeof status === "object" && SERVING.has(status.mode);
}

export function isLeading(status: ServerStatus | undefined): boolean {
  return typeof status === "object" && (status.mode === "leader" || status.mode === "standalone");
}

/** 0 if no server reports one. */
export function newestZxid(statuses: Iterable<ServerStatus>): bigint {
  let newest = 0n;
  for (const found of statuses) {
    if (typeof found === "string" || found.zxid === undefined) continue;
    const zxid = BigInt(found.zxid);
    if (zxid > newest) newest = zxid;
  }
  return newest;
}

export function epochOf(zxid: string): bigint {
  return BigInt(zxid) >> EPOCH_SHIFT;
}

/** Transactions behind the newest server; undefined in an older epoch, where the number is not known. */
export function lagOf(zxid: string, newest: bigint): number | undefined {
  return epochOf(zxid) === newest >> EPOCH_SHIFT ? Number(newest - BigInt(zxid)) : undefined;
}
