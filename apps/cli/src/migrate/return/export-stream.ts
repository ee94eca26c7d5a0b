/** The leader's state in Apache's form, as its admin port sends it, checked while it is written. */
import { adminFields, fetchFault, formatZxid, parseZxid, type Zxid } from "@zooid/model";
import { type ApacheSnapshotParts, SnapshotFile } from "@zooid/wire/apache";
import type { AdminPlace } from "../../admin-port.ts";
import type { Failed } from "../acts.ts";
import type { ApacheDirectory } from "./apache-directory.ts";
import type { ExportRecord } from "./facts.ts";

export interface ExportQuestion {
  readonly epoch: number;
  readonly closedAt: Zxid;
}

/** The other side sent what is no whole export, or stopped. */
class BrokenExport extends Error {}

/** Counts nodes and sessions, and keeps none of them. */
class CountedParts implements ApacheSnapshotParts {
  sessions = 0;
  nodes = 0;

  session(): void {
    this.sessions++;
  }

  acl(): void {}

  node(): void {
    this.nodes++;
  }

  rest(): void {}
}

/** Writes the state of a server beside its place. Never throws: what goes wrong is an answer. */
export async function writeExport(
  { base, auth }: AdminPlace,
  { epoch, closedAt }: ExportQuestion,
  directory: ApacheDirectory,
  signal: AbortSignal,
): Promise<ExportRecord | Failed> {
  const { origin } = base;
  const url = new URL(`commands/export_apache?epoch=${epoch}&closed=${formatZxid(closedAt)}`, base);
  try {
    const headers: Record<string, string> = auth === undefined ? {} : { authorization: auth };
    const response = await fetch(url, { signal, redirect: "manual", headers });
    if (response.status !== 200 || response.body === null || !response.headers.has("snapshot_size"))
      return await refusal(response, origin);
    const record = recordOf(response.headers, { epoch, closedAt });
    const staged = await directory.begin(numberOf(response.headers, "snapshot_size"));
    const parts = new CountedParts();
    await staged.snapshot(record.zxid, checked(response.body, parts, { record, headers: response.headers }));
    await staged.finish(record);
    return record;
  } catch (error) {
    if (error instanceof BrokenExport) return failed(`the export of ${origin} is not whole: ${error.message}`);
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    // Files fail with a code of the system, and so may a connection.
    const text = code.startsWith("E") && error instanceof Error ? error.message : fetchFault(error);
    return failed(`the export of ${origin} is not written: ${text}`);
  }
}

async function* checked(
  body: AsyncIterable<Uint8Array>,
  parts: CountedParts,
  { record, headers }: { readonly record: ExportRecord; readonly headers: Headers },
): AsyncGenerator<Uint8Array> {
  const file = new SnapshotFile(parts, (place, found) => new BrokenExport(`at ${place}: ${found}`));
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    file.add(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    yield piece;
  }
  const last = file.end();
  const size = numberOf(headers, "snapshot_size");
  if (bytes !== size) throw new BrokenExport(`${bytes} bytes came, and ${size} were announced`);
  if (last !== BigInt(record.zxid))
    throw new BrokenExport(`it ends at 0x${last?.toString(16)}, and not at ${formatZxid(record.zxid)}`);
  if (parts.nodes !== record.nodes || parts.sessions !== record.sessionsKept)
    throw new BrokenExport(
      `it has ${parts.nodes} nodes and ${parts.sessions} sessions, and ${record.nodes} and ${record.sessionsKept} were announced`,
    );
}

function recordOf(headers: Headers, { epoch, closedAt }: ExportQuestion): ExportRecord {
  const last = headers.get("last_zxid") ?? "";
  try {
    return {
      closedAt,
      epoch,
      zxid: parseZxid(last),
      nodes: numberOf(headers, "nodes"),
      ephemeralsRemoved: numberOf(headers, "ephemerals_removed"),
      sessionsKept: numberOf(headers, "sessions_kept"),
      sessionsEnded: numberOf(headers, "sessions_ended"),
      shortestTimeoutMs: numberOf(headers, "shortest_timeout_ms"),
      ttlNodes: numberOf(headers, "ttl_nodes"),
      dataBytesMax: numberOf(headers, "data_bytes_max"),
    };
  } catch (error) {
    if (error instanceof RangeError) throw new BrokenExport(error.message);
    throw error;
  }
}

function numberOf(headers: Headers, name: string): number {
  const text = headers.get(name) ?? "";
  if (!/^\d{1,15}$/.test(text)) throw new BrokenExport(`${name} is no whole number: ${JSON.stringify(text)}`);
  return Number(text);
}

async function refusal(response: Response, origin: string): Promise<Failed> {
  const { status } = response;
  const { error } = adminFields(await response.text()) ?? {};
  const reason = typeof error === "string" ? error : `status ${status}`;
  const hint = status === 401 || status === 403 ? "; set ZOOID_ADMIN_AUTH, or give --admin-auth" : "";
  return failed(`${origin} refuses: ${reason}${hint}`);
}

function failed(reason: string): Failed {
  return { kind: "failed", isRefused: true, reason };
}
