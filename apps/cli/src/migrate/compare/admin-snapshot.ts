/** The state of a server as its admin port sends it: a snapshot in Apache's form, of one zxid. */
import { setTimeout as delay } from "node:timers/promises";
import { adminFields, fetchFault, parseZxid } from "@zooid/model";
import { type ApacheSnapshotParts, SnapshotFile } from "@zooid/wire/apache";
import { CliError } from "../../cli-error.ts";

const STATS_MS = 5_000;
/** A server admits snapshots at an interval, 0.3 s without a setting. */
const BUSY_POLL_MS = 500;
const BUSY_TRIES = 20;
const TOO_MANY = 429;

export interface AdminPlace {
  readonly base: URL;
  /** The value of the header `Authorization`. */
  readonly auth: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Hands over a whole state, part by part. Parts that came before an error are no state.
 *
 * @returns its zxid
 * @throws CliError with the reason why there is none
 */
export async function readSnapshot(place: AdminPlace, parts: ApacheSnapshotParts): Promise<number> {
  const { base, signal } = place;
  const response = await openSnapshot(place);
  const refuse = (at: string, found: string): Error =>
    new CliError(`the snapshot of ${base.origin} is not whole: at ${at}: ${found}`, { code: "UNREADABLE_ANSWER" });
  const file = new SnapshotFile(parts, refuse);
  try {
    for await (const chunk of response.body ?? []) {
      const bytes: Uint8Array = chunk;
      file.add(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CliError) throw error;
    throw new CliError(`the snapshot of ${base.origin} broke off: ${fetchFault(error)}`, { code: "UNREADABLE_ANSWER" });
  }
  file.end();
  return zxidOf(response, base);
}

async function openSnapshot({ base, auth, signal }: AdminPlace): Promise<Response> {
  for (let left = BUSY_TRIES; ; left--) {
    let response: Response;
    try {
      const headers: Record<string, string> = auth === undefined ? {} : { authorization: auth };
      response = await fetch(new URL("commands/snapshot", base), { signal, redirect: "manual", headers });
    } catch (error) {
      signal.throwIfAborted();
      throw new CliError(`no answer from the admin port at ${base.origin}: ${fetchFault(error)}`, {
        code: "NOT_CONNECTED",
        hint: "name the admin port of the follower with --follower http://host:port",
      });
    }
    if (response.status === 200) return response;
    const text = await response.text();
    if (response.status === TOO_MANY && left > 1) {
      await delay(BUSY_POLL_MS, undefined, { signal });
      continue;
    }
    const { error } = adminFields(text) ?? {};
    const reason = typeof error === "string" ? error : `status ${response.status}`;
    const isUnknown = response.status === 401 || response.status === 403;
    throw new CliError(`no snapshot from ${base.origin}: ${reason}`, {
      code: isUnknown ? "NO_AUTH" : "REFUSED",
      ...(isUnknown ? { hint: "set ZOOID_ADMIN_AUTH, or give --admin-auth 'digest super:password'" } : {}),
    });
  }
}

function zxidOf({ headers }: Response, { origin }: URL): number {
  try {
    return parseZxid(headers.get("last_zxid") ?? "");
  } catch {
    throw new CliError(`${origin} sends a snapshot without its zxid: it is no server of Zooid`, {
      code: "UNREADABLE_ANSWER",
    });
  }
}

/** The last transaction that a server has applied; undefined where it does not say it. */
export async function appliedZxid({ base, signal }: AdminPlace): Promise<number | undefined> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(STATS_MS)]);
  try {
    const response = await fetch(new URL("commands/server_stats", base), { signal: limited, redirect: "manual" });
    const stats = adminFields(await response.text())?.["server_stats"];
    if (typeof stats !== "object" || stats === null || !("last_processed_zxid" in stats)) return undefined;
    const { last_processed_zxid: zxid } = stats;
    return typeof zxid === "number" ? zxid : undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
