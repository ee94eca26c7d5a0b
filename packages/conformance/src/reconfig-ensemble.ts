/** An ensemble of three, a fourth server beside it, and places for more, of Apache ZooKeeper or of ours. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { fourLetterWord, ServerProcess } from "./endpoint.ts";
import { digest } from "./wire.ts";

const SIDS = [1, 2, 3, 4, 5, 6, 7] as const;
const PORTS_PER_SERVER = 3;
const SERVING_DEADLINE_MS = 60_000;
/** What the operator authenticates with, by the scheme `digest`. */
export const SUPER = "super:secret";

export interface ReconfigEnsemble extends AsyncDisposable {
  /** A follower, which clients are given. */
  readonly server: ServerProcess;
  /** `server.N=…`, with its role and without its client port. */
  bare(sid: number, role?: string): string;
  /** The same with its client port. */
  line(sid: number, role?: string): string;
  /** Ports, and the versions in the order of their appearance, are replaced by words. */
  comparable(lines: readonly string[]): readonly string[];
}

/**
 * Servers 1 to 3 serve; server 4 runs, and lists itself beside them; 5 to 7 have places and do not run.
 *
 * @param folder of the servers' folders; the caller deletes it
 */
export async function startReconfigEnsemble(
  kind: "apache" | "zooid",
  folder: string,
  jars?: string,
): Promise<ReconfigEnsemble> {
  const ports = await freePorts(SIDS.length * PORTS_PER_SERVER);
  const portOf = (sid: number, which: number): number => ports[(sid - 1) * PORTS_PER_SERVER + which] ?? 0;
  const bare = (sid: number, role = ":participant"): string =>
    `server.${sid}=127.0.0.1:${portOf(sid, 0)}:${portOf(sid, 1)}${role}`;
  const line = (sid: number, role?: string): string => `${bare(sid, role)};127.0.0.1:${portOf(sid, 2)}`;
  const servers = [1, 2, 3, 4].map((sid) => {
    const own = join(folder, `${kind}-${sid}`);
    mkdirSync(own);
    const listed = [1, 2, 3, ...(sid === 4 ? [4] : [])].map((other) => line(other));
    const superDigest = `DigestAuthenticationProvider.superDigest=${digest(SUPER)}`;
    const settings = [...listed, "initLimit=10", "syncLimit=5", "reconfigEnabled=true", superDigest];
    return new ServerProcess({
      ...{ kind, folder: own, settings, sid, port: portOf(sid, 2) },
      ...(jars === undefined ? {} : { jars, properties: [`-Dzookeeper.${superDigest}`] }),
    });
  });
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    for (const server of servers.slice(0, 3)) await server.launch();
    for (const server of servers.slice(0, 3)) await serving(server.port);
    await servers[3]?.start();
    const server = await followerAmong(servers.slice(0, 3));
    return { server, bare, line, comparable: (lines) => comparable(lines, ports), [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function comparable(lines: readonly string[], ports: readonly number[]): readonly string[] {
  const versions: string[] = [];
  return lines.map((text) =>
    ports
      .reduce(
        (said, port, i) => said.replaceAll(`:${port}`, `:P${Math.floor(i / PORTS_PER_SERVER) + 1}.${i % 3}`),
        text,
      )
      .replace(/version=([0-9a-f]+)/g, (_, version: string) => {
        if (!versions.includes(version)) versions.push(version);
        return `version=#${versions.indexOf(version)}`;
      })
      .replace(/zxid \S+ |now-\d+|\(c [^)]*\)/g, ""),
  );
}

async function serving(port: number): Promise<void> {
  const deadline = Date.now() + SERVING_DEADLINE_MS;
  while (!(await fourLetterWord(port, "srvr")).includes("Mode:")) {
    if (Date.now() > deadline) throw new Error(`no server serves on port ${port}`);
    await delay(50);
  }
}

async function followerAmong(servers: readonly ServerProcess[]): Promise<ServerProcess> {
  for (const server of servers) {
    if ((await fourLetterWord(server.port, "srvr")).includes("Mode: follower")) return server;
  }
  throw new Error("no server follows");
}
