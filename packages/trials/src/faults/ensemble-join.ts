/**
 * Empties the disk of a follower in an ensemble that holds a lot and is written to, and watches it
 * come back.
 *
 *     npm run tool -- ensemble-join [--nodes 1000000] [--bytes 100] [--added] [--keep]
 *
 * With `--added` a fourth server begins with an empty disk instead, gets the state without a vote,
 * and is added by a change of the configuration when it is level.
 *
 * The follower must be given the leader's whole state, be level, and hold the same. Meanwhile
 * writers and a reader ask the leader one request at a time, the reader every 2 ms: the longest
 * that the reader waits is the longest that the leader's loop was busy with anything else.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@zooid/client";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { create, multi, OP } from "@zooid/conformance/internal/wire";
import { memoryMib } from "../figures/process-memory.ts";
import { differences, type Tree } from "./ensemble-history.ts";
import { Auditor } from "./ensemble-load.ts";
import { Ensemble, type EnsembleServer, until } from "./ensemble-servers.ts";
import { demand, PacedLoad } from "./paced-load.ts";
import { RawSession } from "./raw-session.ts";

const options = toolOptions({ nodes: 1_000_000, bytes: 100, added: false, keep: false });
const { nodes: nodeCount } = options;
const folderNodeCount = 1000;
const CREATES_AT_ONCE = 250;
const LOADERS = 4;
const START_DEADLINE_MS = 30_000;
const LEVEL_DEADLINE_MS = 600_000;
/** The state file is brought forward every 30 s, and the log purged behind it. */
const PURGE_DEADLINE_MS = 120_000;
const QUIET_MS = 5000;
const FOLDERS_COMPARED = 20;
const TIMEOUT_MS = 40_000;

const folder = mkdtempSync(join(tmpdir(), "ensemble-join-"));
const VOTERS = 3;
const ensemble = await Ensemble.create({
  folder,
  serverCount: VOTERS + (options.added ? 1 : 0),
  tickMs: 2000,
  syncLimit: 5,
  settings: options.added ? ["reconfigEnabled=true", "skipACL=yes"] : [],
  isListed: (sid, by) => sid <= VOTERS || sid === by,
});
const first = ensemble.servers.slice(0, VOTERS);
const folderCount = Math.ceil(nodeCount / folderNodeCount);
let hasFailed = false;

try {
  await run();
} catch (error) {
  hasFailed = true;
  console.log(`FAILED: ${error instanceof Error ? error.message : error}\n${ensemble.describe()}`);
} finally {
  await ensemble[Symbol.asyncDispose]();
}
if (hasFailed || options.keep) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
process.exit(hasFailed ? 1 : 0);

async function run(): Promise<void> {
  console.log(`three servers in ${folder}, ${nodeCount} znodes of ${options.bytes} bytes`);
  for (const server of first) server.launch();
  const leader = await ensemble.untilLevel(START_DEADLINE_MS, first);
  const joiner = options.added ? ensemble.servers[VOTERS] : first.find((server) => server !== leader);
  if (joiner === undefined) throw new Error("there is no server to join");
  const beganAt = performance.now();
  await fill(leader);
  console.log(
    `filled in ${seconds(performance.now() - beganAt)}; leader ${leader.sid}, ${memoryMib(leader.pid)} MiB resident`,
  );

  // From then on no follower can be brought level from the log alone.
  await until(
    "the leader to purge its log",
    PURGE_DEADLINE_MS,
    () => hasPurged(leader),
    () => "ask for more nodes, or for larger ones: the leader keeps 64 MiB of log",
  );
  const load = new PacedLoad(leader);
  await load.start();
  await delay(QUIET_MS);
  load.report("before");
  if (options.added) await addServer(joiner, load);
  else await emptyFollower(joiner, load);
  await delay(QUIET_MS);
  load.report("after");
  await load.stop();

  console.log(
    `server ${joiner.sid} holds ${await znodeCount(joiner)} znodes, the leader ${await znodeCount(leader)}; ${diskUse(joiner)}`,
  );
  const faults = [...load.faults(), ...(await compare())];
  // The data found by a restart show the kind of synchronization: a snapshot, with few entries in
  // the log.
  await joiner.end("SIGTERM");
  joiner.launch();
  await ensemble.untilLevel(LEVEL_DEADLINE_MS);
  const [, recovered = "0", replayed = "0"] =
    joiner.log().match(/.*recovered (\d+) znodes? .* (\d+) transactions? from the log/s) ?? [];
  console.log(`after a restart it recovered ${recovered} znodes and replayed ${replayed} transactions`);
  if (Number(recovered) < nodeCount) faults.push(`only ${recovered} znodes came back after a restart`);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  console.log("level, equal and durable");
}

/** A server without data follows without a vote until it is level, and is added then. */
async function addServer(joiner: EnsembleServer, load: PacedLoad): Promise<void> {
  const launchedAt = performance.now();
  joiner.launch();
  const role = await joiner.untilServing(LEVEL_DEADLINE_MS);
  if (role !== "observer") throw new Error(`server ${joiner.sid} is ${role} before it is added`);
  load.report(`while server ${joiner.sid} got the state without a vote, ${seconds(performance.now() - launchedAt)}`);
  const client = await connect(joiner.address, { startTimeoutMs: START_DEADLINE_MS });
  const askedAt = performance.now();
  await client.reconfig({ joining: [joiner.line] });
  const answeredMs = performance.now() - askedAt;
  await client.close();
  await until("the server to vote", LEVEL_DEADLINE_MS, async () => (await joiner.role()) === "follower");
  await ensemble.untilLevel(LEVEL_DEADLINE_MS);
  load.report(`while it was added, answered after ${answeredMs.toFixed(0)} ms`);
}

/** The disk of a follower is emptied. */
async function emptyFollower(joiner: EnsembleServer, load: PacedLoad): Promise<void> {
  await joiner.kill();
  // Not at once: to free hundreds of megabytes would hold up the clients of this process, and count
  // as the leader's doing.
  for (const name of readdirSync(joiner.dataDir)) await rm(join(joiner.dataDir, name), { recursive: true });
  joiner.writeMyid();
  load.report("with the follower down");
  const emptyAt = performance.now();
  joiner.launch();
  await ensemble.untilLevel(LEVEL_DEADLINE_MS);
  const joinMs = performance.now() - emptyAt;
  load.report(`while the follower joined, ${seconds(joinMs)} from its start until it was level`);
}

/** Makes the nodes, many in a transaction, in several pipelines. */
async function fill({ host, port }: EnsembleServer): Promise<void> {
  const value = "v".repeat(options.bytes);
  const root = await RawSession.open({ host, port, timeoutMs: TIMEOUT_MS });
  await demand(root, OP.create, create("/filled"));
  await root.ask(OP.close);
  let next = 0;
  const loader = async (): Promise<void> => {
    const session = await RawSession.open({ host, port, timeoutMs: TIMEOUT_MS });
    for (let index = next++; index < folderCount; index = next++) {
      const parent = folderPath(index);
      const count = Math.min(folderNodeCount, nodeCount - index * folderNodeCount);
      const paths = Array.from({ length: count }, (_, node) => `${parent}/n${node}`);
      const transactions = [demand(session, OP.create, create(parent))];
      for (let at = 0; at < count; at += CREATES_AT_ONCE) {
        const creates = paths.slice(at, at + CREATES_AT_ONCE).map((path) => create(path, { data: value }));
        transactions.push(demand(session, OP.multi, multi(...creates.map((body) => [OP.create, body] as const))));
      }
      await Promise.all(transactions);
    }
    await session.ask(OP.close);
  };
  await Promise.all(Array.from({ length: LOADERS }, loader));
}

function folderPath(index: number): string {
  return `/filled/f${index}`;
}

/**
 * All that was filled is compared by number of nodes, some of it by content, and all that the load
 * wrote by content.
 */
async function compare(): Promise<readonly string[]> {
  const trees = new Map<number, Tree>();
  const counts = new Set<string>();
  const step = Math.max(1, Math.floor(folderCount / FOLDERS_COMPARED));
  for (const server of ensemble.servers) {
    const auditor = await Auditor.open(server);
    const found = new Map(await auditor.children("/written"));
    for (let index = 0; index < folderCount; index += step) {
      for (const [path, node] of await auditor.children(folderPath(index))) found.set(path, node);
    }
    trees.set(server.sid, found);
    await auditor.close();
    counts.add(await znodeCount(server));
  }
  return [...differences(trees), ...(counts.size === 1 ? [] : [`servers hold ${[...counts].join(", ")} znodes`])];
}

async function znodeCount(server: EnsembleServer): Promise<string> {
  return (await server.monitor()).get("zk_znode_count") ?? "an unknown number of";
}

async function hasPurged(server: EnsembleServer): Promise<boolean> {
  return Number((await server.monitor()).get("zk_zooid_log_purged_segments_total")) > 0;
}

function diskUse(server: EnsembleServer): string {
  const sizes = readdirSync(server.dataDir).map(
    (name) => `${name} ${megabytes(statSync(join(server.dataDir, name)).size)}`,
  );
  return `on its disk ${sizes.filter((text) => !text.endsWith(" 0 MiB")).join(", ")}`;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
