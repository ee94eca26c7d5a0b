/**
 * Follows Apache ensembles of three servers as an observer that they do not know, under load, and
 * compares.
 *
 *     npm run tool -- apache-follow [--version 3.9.5]… [--kills 2] [--load-ms 3000] [--clients 4]
 *         [--slow-s 0] [--seed N] [--keep]
 *
 * For each version: the follower joins under load, with a snapshot; leaves and resumes by its
 * zxid, without one; is away for so long that a snapshot comes; sees the leader killed by SIGKILL
 * as often as `--kills` says; and is not read from until its spool is full, and resumes. Each
 * transaction must come once and in order, with Apache's digest, every type of them must come, and
 * the tree at the end must be what the servers serve. From 3.6 on it also follows through a
 * follower's observerMasterPort. The servers' logs may have no error, and must count the observer.
 * Then an ensemble with TLS and DIGEST-MD5 between its servers is followed, and turns away what
 * lacks either. With `--slow-s` 16 MB/s are then written for that long to servers with 256 MB of
 * heap, while nothing reads the follower's events. Needs Java and Maven.
 */
import { deepStrictEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { ApacheFollower, FollowOptions } from "@zooid/apache-peer";
import { connect } from "@zooid/client";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { Random } from "@zooid/conformance/internal/random";
import { fourLetterWord, type ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, texts, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { ApacheLoad } from "../apache-import/apache-load.ts";
import { Side } from "../apache-import/moved-side.ts";
import { servedTree } from "../apache-import/served-tree.ts";
import { EventReader, until } from "./event-reader.ts";
import { FollowedTree } from "./followed-tree.ts";
import { followSecured } from "./secured-follow.ts";
import { followSlowly } from "./slow-reader.ts";

const VERSIONS = ["3.9.5", "3.5.10"];
const SIDS = [1, 2, 3];
const SESSION_MS = 40_000;
/** Nodes that are due are reaped within this. */
const SETTLE_MS = 10_000;
/** More than the leader has in memory. */
const FAR_BEHIND = 700;
const FEW = 50;
const MIB = 1024 * 1024;
/** A leader that lacks a transaction in memory sends a snapshot, and containers are reaped soon. */
const PROPERTIES = [
  "-Dzookeeper.snapshotSizeFactor=-1",
  "-Dzookeeper.extendedTypesEnabled=true",
  "-Dznode.container.checkIntervalMs=500",
  "-Dfile.encoding=UTF-8",
];
/** The types of transactions that the load leads to. */
const TYPES = [
  "ERROR",
  "CREATE2",
  "CREATE_CONTAINER",
  "CREATE_TTL",
  "DELETE",
  "DELETE_CONTAINER",
  "SET_DATA",
  "SET_ACL",
  "MULTI",
  "CREATE_SESSION",
  "CLOSE_SESSION",
];
/**
 * Apache's servers log the first ones of each learner that leaves, and the last one where a server
 * gets a snapshot while transactions are applied.
 */
const ERROR = / (?:ERROR|FATAL) (?!.*in LearnerHandler|.*causing shutdown|First digest mismatch on txn)/;

const options = toolOptions({
  version: texts,
  kills: whole(2, 0),
  "load-ms": whole(3000, 100),
  clients: whole(4, 1),
  "slow-s": whole(0, 0),
  seed: newSeed(),
  keep: false,
});
const random = new Random(options.seed);
const folder = mkdtempSync(join(tmpdir(), "apache-follow-"));
const versions = options.version.length > 0 ? options.version : VERSIONS;
let failure: unknown;
console.log(`seed ${options.seed}, data in ${folder}`);
try {
  for (const version of versions) {
    await runVersion(version);
    console.log(`${version} with TLS and login between servers`);
    await followSecured(version, join(folder, `${version}-secured`));
    if (options["slow-s"] === 0) continue;
    console.log(`${version} while the follower is not read from`);
    await followSlowly(version, join(folder, version), options["slow-s"]);
  }
} catch (error) {
  failure = error;
  console.log(error instanceof Error ? error.stack : String(error));
}
if (options.keep || failure !== undefined) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(failure === undefined ? `${versions.length} versions passed` : "FAILED");
process.exit(failure === undefined ? 0 : 1);

async function runVersion(version: string): Promise<void> {
  const ports = await freePorts(12);
  const masterPorts = ports.slice(9);
  const place = join(folder, version);
  await using apache = new Side({
    kind: "apache",
    folder: place,
    ports,
    sids: SIDS,
    jars: fetchApacheJars(version),
    sessionMs: SESSION_MS,
    properties: PROPERTIES,
    settings: (i) => (hasMasters(version) ? [`observerMasterPort=${masterPorts[i]}`] : []),
  });
  await Promise.all(apache.servers.map((server) => server.start()));
  const hosts = SIDS.map((_, i) => `127.0.0.1:${ports[3 + i]}`).join(",");
  const common = { epochFile: join(place, "epochs"), spoolDirectory: folder };
  const tree = new FollowedTree();
  let load = await startedLoad(await followerOf(apache));

  await step("joins under load", async () => {
    await using reader = new EventReader(hosts, { ...common }, tree);
    await reader.until(() => tree.count("up-to-date") === 1);
    await delay(options["load-ms"]);
    await reader.follower.sync();
    await checkCounted(apache, version);
    equal(tree.count("snapshot"), 1);
  });

  await load.end();
  await step("resumes by its zxid", async () => {
    await writeFew((await followerOf(apache)).port);
    await using reader = new EventReader(hosts, { ...common, ...position(tree) }, tree);
    await reader.until(() => tree.count("up-to-date") === 2);
    deepStrictEqual([tree.count("snapshot"), tree.count("continued")], [1, 1]);
  });

  load = await startedLoad(await followerOf(apache));
  await step("is far behind", async () => {
    const answered = load.answered;
    await until(() => load.answered > answered + FAR_BEHIND);
    await using reader = new EventReader(hosts, { ...common, ...position(tree) }, tree);
    await reader.until(() => tree.count("up-to-date") === 3);
    equal(tree.count("snapshot"), 2);
  });

  await step("is not read from", async () => {
    const small = { spoolBytesMax: 2 * MIB, spoolMemoryBytesMax: MIB };
    await using reader = new EventReader(hosts, { ...common, ...position(tree), ...small }, tree);
    await reader.until(() => tree.count("up-to-date") === 4);
    reader.pause();
    await until(() => reader.follower.status.state === "waiting-for-consumer");
    const { spoolBytes } = reader.follower.status;
    reader.resume();
    await reader.until(() => tree.count("up-to-date") === 5);
    return `link ended with ${spoolBytes} bytes that waited`;
  });

  {
    await using reader = new EventReader(hosts, { ...common, ...position(tree) }, tree);
    await reader.until(() => tree.count("up-to-date") === 6);
    for (let kill = 1; kill <= options.kills; kill++) {
      await step("sees the leader killed", async () => {
        const before = tree.count("up-to-date");
        const leader = await leaderOf(apache);
        const killedMs = performance.now();
        await leader.kill();
        await reader.until(() => tree.count("up-to-date") > before);
        const backMs = performance.now() - killedMs;
        await leader.start();
        await delay(options["load-ms"] / 2);
        return `followed again after ${Math.round(backMs)} ms`;
      });
    }
  }
  if (hasMasters(version)) {
    const masters = masterPorts.map((port) => `127.0.0.1:${port}`).join(",");
    await step("follows by a follower", async () => {
      const before = tree.count("up-to-date");
      await using reader = new EventReader(masters, { ...common, ...position(tree) }, tree);
      await reader.until(() => tree.count("up-to-date") > before);
      await delay(options["load-ms"] / 2);
      await reader.follower.sync();
    });
  }
  await step("has the same tree", async () => {
    await load.end();
    const before = tree.count("up-to-date");
    await using reader = new EventReader(hosts, { ...common, ...position(tree) }, tree);
    await reader.until(() => tree.count("up-to-date") > before);
    return await compare(tree, apache, reader.follower);
  });
  const missing = TYPES.filter((type) => !tree.types.has(type));
  deepStrictEqual(missing, [], "types of transactions that did not come");
  for (const server of apache.servers) {
    const errors = server
      .log()
      .split("\n")
      .filter((line) => ERROR.test(line));
    deepStrictEqual(errors, [], "errors in a server's log");
  }
  const types = [...tree.types].map(([type, count]) => `${type} ${count}`).join(", ");
  console.log(
    `${version}: ${tree.transactionCount} transactions once and in order, ${tree.containedCount} of them contained in a snapshot; ` +
      `${tree.count("snapshot")} snapshots, ${tree.count("continued")} times without one; ` +
      `${tree.digestCount} digests compared, ${tree.fuzzyDigestCount} different right behind a snapshot; ${types}`,
  );
}

/** A load whose clients reconnect; until it is ended its requests may fail. */
async function startedLoad(server: ServerProcess): Promise<{ readonly answered: number; end(): Promise<void> }> {
  const load = new ApacheLoad(random, server.port);
  await load.begin();
  const running = load.run(options.clients);
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

/** Fewer than the leader has in memory. */
async function writeFew(port: number): Promise<void> {
  await using zk = await connect(`127.0.0.1:${port}`);
  for (let i = 0; i < FEW; i++) await zk.create(`/few-${i}`, "", { mode: "persistent-sequential" });
}

async function step(name: string, act: () => Promise<unknown>): Promise<void> {
  const startMs = performance.now();
  const found = await act();
  console.log(
    `  ${name}: ${((performance.now() - startMs) / 1000).toFixed(1)} s${typeof found === "string" ? `, ${found}` : ""}`,
  );
}

function position({ last }: FollowedTree): { readonly after?: NonNullable<FollowOptions["after"]> } {
  return last === undefined ? {} : { after: last };
}

async function serverIn(apache: Side, mode: string): Promise<ServerProcess> {
  for (const server of apache.servers) {
    if (server.isRunning && (await fourLetterWord(server.port, "srvr")).includes(`Mode: ${mode}`)) return server;
  }
  throw new Error(`no server says that it is a ${mode}`);
}

function leaderOf(apache: Side): Promise<ServerProcess> {
  return serverIn(apache, "leader");
}

function followerOf(apache: Side): Promise<ServerProcess> {
  return serverIn(apache, "follower");
}

/** The leader's count of its learners. */
async function checkCounted(apache: Side, version: string): Promise<void> {
  const answer = await fourLetterWord((await leaderOf(apache)).port, "mntr");
  const count = (name: string): number => Number(new RegExp(`${name}\t(\\d+)`).exec(answer)?.[1] ?? Number.NaN);
  if (!hasMasters(version)) return;
  deepStrictEqual([count("zk_synced_observers"), count("zk_learners")], [1, 3], "what the leader says of its learners");
}

/** Followers take observers since 3.6, and their leader counts them. */
function hasMasters(version: string): boolean {
  return !version.startsWith("3.5.");
}

/** Containers and TTL nodes are reaped meanwhile: a tree that differs is compared again. */
async function compare(tree: FollowedTree, apache: Side, follower: ApacheFollower): Promise<string> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const expected = await servedTree((await leaderOf(apache)).port);
    await follower.sync();
    const found = tree.served();
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
