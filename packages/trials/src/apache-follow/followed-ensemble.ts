import { ok } from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { isZkError } from "@zooid/client";
import type { Random } from "@zooid/conformance/internal/random";
import { fourLetterWord, type ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { ApacheLoad } from "../apache-import/apache-load.ts";
import type { Side } from "../apache-import/moved-side.ts";
import { servedTree } from "../apache-import/served-tree.ts";
import { until } from "./event-reader.ts";
import { servedOf } from "./followed-tree.ts";
import type { FollowerProcess } from "./follower-process.ts";

/** Longer than the sessions of the load last, and than the reaper waits. */
const SETTLE_MS = 150_000;

/** A load whose clients reconnect; until it is ended its requests may fail. */
export async function startedLoad(
  random: Random,
  server: ServerProcess,
  clients: number,
): Promise<{ readonly answered: number; end(): Promise<void> }> {
  const load = new ApacheLoad(random, server.port);
  await load.begin();
  const running = load.run(clients);
  return {
    get answered(): number {
      return load.answered;
    },
    async end(): Promise<void> {
      load.stop();
      await running.catch(() => {});
    },
  };
}

export async function serverIn(apache: Side, mode: string): Promise<ServerProcess> {
  for (const server of apache.servers) {
    if (server.isRunning && (await fourLetterWord(server.port, "srvr")).includes(`Mode: ${mode}`)) return server;
  }
  throw new Error(`no server says that it is a ${mode}`);
}

/** The election after the last kill may be under way. */
export async function reachedLeader(apache: Side): Promise<ServerProcess> {
  let leader: ServerProcess | undefined;
  await until(async () => {
    leader = await serverIn(apache, "leader").catch(() => undefined);
    return leader !== undefined;
  });
  return leader as ServerProcess;
}

/** A node was reaped between its listing and its read: the tree is read again. */
function unlessReaped(error: unknown): undefined {
  if (!isZkError(error, "NO_NODE")) throw error;
}

/**
 * Where Apache's servers differ among themselves, one of them has the follower's tree.
 *
 * @returns their ids
 */
export async function equalServers(apache: Side, follower: FollowerProcess): Promise<readonly number[]> {
  const equal: number[] = [];
  for (const [i, server] of apache.servers.entries()) {
    try {
      await compareTrees(apache, follower, server);
      equal.push(i + 1);
    } catch (error) {
      console.log(`server ${i + 1} and the follower: ${error}`);
    }
  }
  return equal;
}

/** Containers and TTL nodes are reaped meanwhile: a tree that differs is compared again. */
export async function compareTrees(apache: Side, follower: FollowerProcess, server?: ServerProcess): Promise<string> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const { port } = server ?? (await serverIn(apache, "leader"));
    const expected = await servedTree(port).catch(unlessReaped);
    if (expected === undefined) continue;
    const found = servedOf((await follower.tree()).tree);
    const different = [...new Set([...expected.keys(), ...found.keys()])].filter(
      (path) => !isDeepStrictEqual(expected.get(path), found.get(path)),
    );
    if (different.length === 0) {
      ok(expected.size > 100);
      return `${expected.size} nodes, all equal`;
    }
    if (performance.now() < deadline) continue;
    for (const path of different.slice(0, 10)) console.log(path, expected.get(path), found.get(path));
    throw new Error(`${different.length} nodes differ`);
  }
}
