import { ErrorCode, OpCode } from "@zooid/model";
import { readStat } from "@zooid/wire";
import { type RawClient, read } from "@zooid/wire/testing/raw-client";
import { ask } from "./http.ts";
import { startTestServer } from "./server.ts";

/** Shared by the tests of snapshots at the admin port. */

export const SUPER: Readonly<Record<string, string>> = { authorization: "digest super:test" };
export const OCTETS: Readonly<Record<string, string>> = { ...SUPER, "content-type": "application/octet-stream" };

/** The credential of {@link SUPER}. */
export const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";

/** A server with a data directory, without rate limits of snapshot and restore. */
export function start(dataDir: string, admin = {}, auth = {}): ReturnType<typeof startTestServer> {
  return startTestServer({
    auth,
    dataDir,
    superDigest: SUPER_DIGEST,
    admin: { port: 0, rateLimiterIntervalMs: 0, ...admin },
    fourLetterWords: "*",
  });
}

export type Server = Awaited<ReturnType<typeof start>>;

export async function snapshotOf(
  { adminPort }: Pick<Server, "adminPort">,
  query = "",
): Promise<{ response: Response; bytes: Uint8Array<ArrayBuffer> }> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/commands/snapshot${query}`, { headers: SUPER });
  return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
}

export async function restore(
  { adminPort }: Pick<Server, "adminPort">,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = OCTETS,
  query = "",
): Promise<{ status: number; last_zxid?: number; error: string | null }> {
  const init = { method: "POST", headers, body, duplex: "half" } as const;
  const response = await fetch(`http://127.0.0.1:${adminPort}/commands/restore${query}`, init);
  return { status: response.status, ...((await response.json()) as { error: string | null }) };
}

export async function metric(server: Server, name: string): Promise<number> {
  const { body } = await ask(server.adminPort, "/metrics");
  return Number(new RegExp(`^${name} (.*)$`, "m").exec(body)?.[1]);
}

/** A node's data and the fields of its stat that do not depend on the server. */
export async function shown(client: RawClient, path: string): Promise<unknown> {
  const { code, body } = await client.ask(OpCode.GET_DATA, read(path));
  if (code !== ErrorCode.OK) return code;
  const data = body.text();
  const { czxid, mzxid, pzxid, ctimeMs, mtimeMs, version, cversion, numChildren } = readStat(body);
  return { data, czxid, mzxid, pzxid, ctimeMs, mtimeMs, version, cversion, numChildren };
}
