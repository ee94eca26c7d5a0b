/**
 * Servers that lost their disks must found no empty ensemble beside the one that kept its data.
 *
 *     npm run tool -- ensemble-founding [--starts 6] [--together 3] [--seed N] [--times 1] [--before PROGRAM] [--keep]
 *
 * Three servers get data, and are stopped. Then, for each start: two lose their disks, and the
 * third one keeps its own, whole or without the end of its log. It runs when the others start;
 * connections from and to it are refused, dropped, or accepted in silence for up to 4 s. No server
 * may serve, and those that lost their disks must report why. When the lost disks are back, all
 * data must be.
 *
 * At last it measures how soon a new ensemble serves: three servers; two of three, which wait for
 * the third one first; and the same with initLimit=2. `--before` names another build of the server,
 * whose start of three is measured in turns with this one's. With `--times 5` or more the medians
 * are judged.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@zooid/client";
import { Random } from "@zooid/conformance/internal/random";
import { ZOOID_SERVER } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, text, toolOptions } from "@zooid/conformance/internal/tool-options";
import { median } from "../figures/quantiles.ts";
import { Ensemble, type EnsembleOptions, type EnsembleServer, until } from "./ensemble-servers.ts";
import { FaultyWay, type WayState } from "./faulty-way.ts";

const options = toolOptions({ starts: 6, together: 3, seed: newSeed(), times: 1, before: text, keep: false });

const SERVER_COUNT = 3;
const TICK_MS = 2000;
const DEADLINE_MS = 30_000;
const FAULT_MS_MAX = 4000;
/** The default of `zooid.foundingWaitMs`. */
const WAIT_MS = 5000;
/** Behind the wait, an ensemble that may be founded is. */
const FOUNDED_MS_MAX = 3000;
/**
 * From the start of the processes to the end of the wait it is the machine's time; behind it an
 * ensemble takes this.
 */
const PEERS_MS_MAX = 2000;
/** Time after their start at which the wait and the last attempts to connect are over. */
const WATCHED_MS = 7500;
/** The fewest starts whose median is judged: a busy machine delays a single one. */
const JUDGED_COUNT = 5;
/** How much slower three new servers may be than before. */
const SLOWER_MS_MAX = 500;
const FAULTS: readonly WayState[] = ["refused", "dropped", "silent"];
const PATH = "/kept";

/** The fault of the third server in one start. */
interface Plan {
  readonly number: number;
  readonly survivor: number;
  readonly isDamaged: boolean;
  readonly fault: WayState;
  readonly faultMs: number;
}

const random = new Random(options.seed);
const folder = mkdtempSync(join(tmpdir(), "ensemble-founding-"));
const failures: string[] = [];
console.log(`seed ${options.seed}, in ${folder}`);

const original = await withData();
const plans = Array.from({ length: options.starts }, (_, number) => planOf(number));
await Promise.all(Array.from({ length: options.together }, () => startInTurn()));
await measure();

if (failures.length === 0 && !options.keep) rmSync(folder, { recursive: true, force: true });
else console.log(`data and logs are kept in ${folder}`);
for (const failure of failures) console.log(`FAILED: ${failure}`);
if (failures.length === 0) console.log(`${options.starts} starts: nothing was founded beside data`);
process.exit(failures.length === 0 ? 0 : 1);

/** Three servers that hold a node each of them has acked, and are down. */
async function withData(): Promise<readonly string[]> {
  const ensemble = await newEnsemble("original");
  await ensemble.start(DEADLINE_MS);
  const [server] = ensemble.servers;
  if (server === undefined) throw new Error("there is no server");
  const client = await connect(server.address, { startTimeoutMs: DEADLINE_MS });
  await client.create(PATH, Buffer.from("data"));
  for (let i = 0; i < 50; i++) await client.create(`${PATH}/${i}`, Buffer.alloc(1000));
  await client.close();
  await delay(200);
  for (const each of ensemble.servers) await each.kill();
  return ensemble.servers.map(({ dataDir }) => dataDir);
}

/** Every survivor, every fault, whole and damaged in turn; the times are drawn. */
function planOf(number: number): Plan {
  return {
    number,
    survivor: 1 + (number % SERVER_COUNT),
    isDamaged: number % 2 === 1,
    fault: FAULTS[Math.floor(number / 2) % FAULTS.length] ?? "refused",
    faultMs: random.between(0, FAULT_MS_MAX),
  };
}

async function startInTurn(): Promise<void> {
  for (let plan = plans.shift(); plan !== undefined; plan = plans.shift()) {
    try {
      await startBesideData(plan);
    } catch (error) {
      failures.push(`${describe(plan)}: ${error instanceof Error ? error.message : error}`);
    }
  }
}

async function startBesideData(plan: Plan): Promise<void> {
  await using ensemble = await newEnsemble(`start-${plan.number}`);
  await using ways = new AsyncDisposableStack();
  const { servers } = ensemble;
  const survivor = servers.find(({ sid }) => sid === plan.survivor);
  if (survivor === undefined) throw new Error(`there is no server ${plan.survivor}`);
  const lost = servers.filter((server) => server !== survivor);
  const between: FaultyWay[] = [];
  for (const other of lost) {
    between.push(...(await routeBy(ways, survivor, other)), ...(await routeBy(ways, other, survivor)));
  }
  restore(survivor);
  if (plan.isDamaged) damage(survivor);
  for (const way of between) await way.become(plan.fault);
  survivor.launch();
  await untilLooking(survivor);
  for (const server of lost) server.launch();
  const startedAt = performance.now();
  let isHealed = false;
  let untilMs = Number.POSITIVE_INFINITY;
  while (performance.now() < untilMs) {
    if (!isHealed && performance.now() - startedAt >= plan.faultMs) {
      isHealed = true;
      for (const way of between) await way.become("open");
    }
    if (untilMs === Number.POSITIVE_INFINITY && lost.every(isLooking)) untilMs = performance.now() + WATCHED_MS;
    for (const server of servers) {
      const role = await server.role();
      if (role !== "none") throw new Error(`server ${server.sid} is ${role}\n${ensemble.describe()}`);
    }
    await delay(50);
  }
  for (const server of lost) {
    if (!server.log().includes("founds no ensemble")) {
      throw new Error(`server ${server.sid} does not report why\n${ensemble.describe()}`);
    }
  }
  for (const server of lost) {
    await server.kill();
    restore(server);
    server.launch();
  }
  await ensemble.untilLevel(DEADLINE_MS);
  for (const { address, sid } of servers) {
    const client = await connect(address, { startTimeoutMs: DEADLINE_MS });
    const { names } = await client.children(PATH);
    await client.close();
    if (names.length !== 50) throw new Error(`server ${sid} has ${names.length} of 50 nodes`);
  }
  console.log(`${describe(plan)}: nothing was founded, and all data are back with the disks`);
}

function isLooking(server: EnsembleServer): boolean {
  return server.log().includes("LOOKING");
}

async function untilLooking(server: EnsembleServer): Promise<void> {
  await until(
    "a server to start",
    DEADLINE_MS,
    () => isLooking(server),
    () => server.logTail(),
  );
}

function describe({ number, survivor, isDamaged, fault, faultMs }: Plan): string {
  return `start ${number}: server ${survivor} ${isDamaged ? "damaged" : "whole"}, its links ${fault} for ${faultMs} ms`;
}

/** One server reaches another by a way of its own, on both of its ports. */
async function routeBy(
  owner: AsyncDisposableStack,
  from: EnsembleServer,
  to: EnsembleServer,
): Promise<readonly FaultyWay[]> {
  const { peerHost: host, quorumPort, electionPort } = to.place;
  const quorum = owner.use(await FaultyWay.to({ host, port: quorumPort }));
  const election = owner.use(await FaultyWay.to({ host, port: electionPort }));
  const file = join(from.folder, "zoo.cfg");
  const text = readFileSync(file, "utf8");
  const direct = `server.${to.sid}=${host}:${quorumPort}:${electionPort}`;
  if (!text.includes(direct)) throw new Error(`${file} has no ${direct}`);
  writeFileSync(file, text.replace(direct, `server.${to.sid}=127.0.0.1:${quorum.port}:${election.port}`));
  return [quorum, election];
}

/** The server has the data that it had at first. */
function restore(server: EnsembleServer): void {
  const source = original[server.sid - 1];
  if (source === undefined) throw new Error(`server ${server.sid} had no data`);
  rmSync(server.dataDir, { recursive: true, force: true });
  cpSync(source, server.dataDir, { recursive: true });
}

/** The end of the log is lost: it lies in the write-ahead log of the newest segment. */
function damage({ dataDir }: EnsembleServer): void {
  const logs = readdirSync(dataDir, { recursive: true, encoding: "utf8" }).filter((name) =>
    /log-.*\.db-wal$/.test(name),
  );
  const newest = logs.sort().at(-1);
  if (newest === undefined) throw new Error(`${dataDir} has no log`);
  truncateSync(join(dataDir, newest), 0);
}

/** How soon new servers serve. */
async function measure(): Promise<void> {
  const { times: count } = options;
  const before: number[] = [];
  const three: number[] = [];
  const two: number[] = [];
  const twoShort: number[] = [];
  for (let i = 0; i < count; i++) {
    if (options.before !== undefined) before.push(await startMs(`before-${i}`, SERVER_COUNT, {}, options.before));
    three.push(await startMs(`three-${i}`, SERVER_COUNT));
    const [twoMs, twoShortMs] = await Promise.all([
      startMs(`two-${i}`, SERVER_COUNT - 1),
      startMs(`two-short-${i}`, SERVER_COUNT - 1, { initLimit: 2 }),
    ]);
    two.push(twoMs);
    twoShort.push(twoShortMs);
  }
  if (count === 0) return;
  console.log(`three new servers serve after ${median(three).toFixed(0)} ms (median of ${count})`);
  if (before.length > 0) {
    console.log(`the build before: ${median(before).toFixed(0)} ms`);
    if (count >= JUDGED_COUNT && median(three) > median(before) + SLOWER_MS_MAX)
      failures.push("three new servers are slower than before");
  }
  // On a busy machine processes take long to start: the three new servers say how long.
  const foundedMsMax = Math.max(FOUNDED_MS_MAX, Math.max(...three) + PEERS_MS_MAX);
  for (const [what, values] of [
    ["two of three", two],
    ["two of three with initLimit=2", twoShort],
  ] as const) {
    const most = Math.max(...values);
    console.log(`${what} serve after ${median(values).toFixed(0)} ms, at most ${most.toFixed(0)} ms`);
    if (count >= JUDGED_COUNT && median(values) > WAIT_MS + foundedMsMax)
      failures.push(`${what} served only after the time above`);
    if (Math.min(...values) < WAIT_MS) failures.push(`${what} did not wait for the third one`);
  }
}

async function startMs(
  name: string,
  startedCount: number,
  more: Partial<EnsembleOptions> = {},
  program: string = ZOOID_SERVER,
): Promise<number> {
  await using ensemble = await newEnsemble(name, more);
  const started = ensemble.servers.slice(0, startedCount);
  const beganAt = performance.now();
  for (const server of started) server.launch(program);
  await ensemble.untilLeader(started, DEADLINE_MS);
  return performance.now() - beganAt;
}

function newEnsemble(name: string, more: Partial<EnsembleOptions> = {}): Promise<Ensemble> {
  return Ensemble.create({
    folder: join(folder, name),
    serverCount: SERVER_COUNT,
    tickMs: TICK_MS,
    syncLimit: 5,
    ...more,
  });
}
