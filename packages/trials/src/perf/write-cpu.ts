import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import { decimal, toolOptions } from "@zooid/conformance/internal/tool-options";
import { type CpuProfile, IDLE, layersOf } from "./cpu-layers.ts";
import { PerfEnsemble, type PerfServer, type ThreadCpu } from "./ensemble.ts";
import { runBench } from "./run-bench.ts";

/**
 * The costs of one write at the leader and at a follower of three, layer by layer: the CPU that the
 * system counted for each thread, divided by the number of writes; for the main thread a profile
 * gives its parts. `--seconds 10 --warmup 5 --data DIR --loads 64x16,16x1`
 */
const values = toolOptions({ seconds: decimal(10), warmup: decimal(5), data: tmpdir(), loads: "64x16,16x1" });

/** Threads that Node.js starts for a server, in the order in which they are started. */
const WORKERS = [
  "log thread: rows, chain, WAL, sync",
  "the log's helper: segments",
  "state thread, at low priority",
] as const;

/** Threads that are there for the profile only. */
const PROFILER = /^(v8:Prof|SignalInspector)/;

/** The costs of a server's threads between two moments, for each write. */
interface Cost {
  readonly role: string;
  readonly layers: ReadonlyMap<string, number>;
}

async function measure(connections: string, inFlight: string): Promise<readonly Cost[]> {
  const folder = mkdtempSync(join(values.data, "write-cpu-"));
  const profiles = join(folder, "profiles");
  // Written when the process ends; of the main thread only, since the log's threads take no options
  // from the command line.
  const node = join(ROOT, "node_modules/node/bin/node");
  const command = `${node} --max-semi-space-size=4 --cpu-prof --cpu-prof-interval=2000 --cpu-prof-dir='${profiles}' '${join(ROOT, "apps/server/dist/main.js")}'`;
  mkdirSync(profiles, { recursive: true });
  await using ensemble = await PerfEnsemble.start({ kind: "zooid", folder, voters: 3, command });
  const leader = await ensemble.leader();
  const load = ["--ratio", "0", "--connections", connections, "--in-flight", inFlight, "--warmup", "0"];
  await runBench("--hosts", ensemble.hosts, "read-ratio", ...load, "--duration", `${values.warmup}s`);
  const before = new Map(ensemble.servers.map((server) => [server, server.threads()]));
  const from = { us: monotonicUs(), transactions: await leader.transactions() };
  await runBench("--hosts", ensemble.hosts, "read-ratio", ...load, "--duration", `${values.seconds}s`);
  const to = { us: monotonicUs(), transactions: await leader.transactions() };
  const writes = to.transactions - from.transactions;
  const threads = new Map(
    ensemble.servers.map((server) => [server, usedBy(server.threads(), before.get(server) ?? [])]),
  );
  const pids = new Map(ensemble.servers.map((server) => [server, server.pid]));
  await ensemble.stop();
  const costOf = (server: PerfServer): Cost => {
    const pid = pids.get(server) ?? 0;
    const layers = new Map<string, number>();
    const used = threads.get(server) ?? [];
    const add = (layer: string, seconds: number): void => {
      layers.set(layer, (layers.get(layer) ?? 0) + (seconds * 1e6) / writes);
    };
    const workers = used.filter(({ name }) => name === "WorkerThread");
    for (const [i, { seconds }] of workers.entries()) add(WORKERS[i] ?? "other threads", seconds);
    for (const { name, tid, seconds } of used) {
      if (tid === pid || name === "WorkerThread" || PROFILER.test(name)) continue;
      add("Node.js's threads: compiler, collector", seconds);
    }
    // A profile gives shares: where threads compete for cores, a sample is not yet time on a core.
    const shares = busyShares(profileOf(profiles, pid), { fromUs: from.us, toUs: to.us });
    const main = used.find(({ tid }) => tid === pid)?.seconds ?? 0;
    for (const [layer, share] of shares) add(layer, share * main);
    return { role: server === leader ? "leader" : "follower", layers };
  };
  const follower = ensemble.servers.find((server) => server !== leader);
  return follower === undefined ? [] : [costOf(leader), costOf(follower)];
}

/** The time that each thread has used since, in the order of their start. */
function usedBy(after: readonly ThreadCpu[], before: readonly ThreadCpu[]): readonly ThreadCpu[] {
  return after
    .map((thread) => ({
      ...thread,
      seconds: thread.seconds - (before.find(({ tid }) => tid === thread.tid)?.seconds ?? 0),
    }))
    .sort((a, b) => a.tid - b.tid);
}

/** Files are called `CPU.<day>.<time>.<process>.…`. */
function profileOf(folder: string, pid: number): CpuProfile {
  const file = readdirSync(folder).find((name) => name.split(".")[3] === String(pid));
  if (file === undefined) throw new Error(`process ${pid} left no profile`);
  return JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile;
}

function busyShares(profile: CpuProfile, window: { fromUs: number; toUs: number }): ReadonlyMap<string, number> {
  const layers = [...layersOf(profile, window)].filter(([layer]) => layer !== IDLE);
  const total = layers.reduce((sum, [, us]) => sum + us, 0);
  return new Map(layers.map(([layer, us]) => [layer, us / total]));
}

/** The clock of profiles. */
function monotonicUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

const columns: (Cost & { readonly load: string })[] = [];
for (const load of values.loads.split(",")) {
  const [connections = "64", inFlight = "16"] = load.split("x");
  for (const cost of await measure(connections, inFlight)) columns.push({ ...cost, load });
}
const names = [...new Set(columns.flatMap(({ layers }) => [...layers.keys()]))].sort(
  (a, b) => (columns[0]?.layers.get(b) ?? 0) - (columns[0]?.layers.get(a) ?? 0),
);
const line = (name: string, of: (cost: Cost) => number): string =>
  `| ${name} | ${columns.map((cost) => of(cost).toFixed(2)).join(" | ")} |`;
console.log(`| µs a write | ${columns.map(({ role, load }) => `${role}, ${load.replace("x", " × ")}`).join(" | ")} |`);
console.log(`|${" --- |".repeat(columns.length + 1)}`);
for (const name of names) console.log(line(name, ({ layers }) => layers.get(name) ?? 0));
console.log(line("all threads", ({ layers }) => [...layers.values()].reduce((sum, us) => sum + us, 0)));
