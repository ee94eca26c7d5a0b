/**
 * Prometheus scrapes three servers under load and faults, and has a value for every expression of
 * our boards for Grafana, of our alerts, and of the public boards for Apache ZooKeeper.
 *
 *     npm run tool -- prometheus [--seed N] [--keep]
 *
 * Meanwhile the leader is restarted, a follower is paused, and then both, so that no server leads,
 * and connections are refused. An expression counts as answered when it had a number at any second
 * since the start. Needs Debian's prometheus, and openssl.
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { connect } from "@zooid/client";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { Authority } from "../faults/ensemble-certificates.ts";
import { EnsembleLoad } from "../faults/ensemble-load.ts";
import { Ensemble, type EnsembleServer, until } from "../faults/ensemble-servers.ts";
import { expressionsOfAlerts, expressionsOfBoards, foreignExpressions } from "./asked-expressions.ts";
import { PrometheusServer } from "./prometheus-server.ts";

const ROOT = resolve(import.meta.dirname, "../../../..");
const JOB = "zk";
const DEADLINE_MS = 90_000;
/** Scrapes before the first fault, and behind the last: rates need some. */
const CALM_SCRAPES = 12;
/** Longer than no server leads. */
const SESSION_TIMEOUT_MS = 60_000;

const options = toolOptions({ seed: newSeed(), keep: false });
const folder = mkdtempSync(join(tmpdir(), "prometheus-"));
const startSeconds = Date.now() / 1000;
await using stack = new AsyncDisposableStack();
const ensemble = stack.use(await Ensemble.create({ folder, serverCount: 3, tickMs: 500, syncLimit: 4 }));
const targets = await withMetrics(ensemble);
await ensemble.start(DEADLINE_MS);
const prometheus = stack.use(
  await PrometheusServer.start({
    folder: join(folder, "prometheus"),
    job: JOB,
    targets,
    ruleFile: join(ROOT, "deploy/prometheus/zooid-rules.yaml"),
  }),
);
const load = new EnsembleLoad({ servers: ensemble.servers, seed: options.seed, sessionTimeoutMs: SESSION_TIMEOUT_MS });
await load.prepare();
await limitKeys(ensemble);
await load.start();
console.log(`seed ${options.seed}, 3 servers and Prometheus in ${folder}`);

await step("load without a fault", calm);
await step("the leader restarts", async () => {
  const leader = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
  await leader.restart();
  await ensemble.untilLevel(DEADLINE_MS);
});
await step("a follower is paused", async () => {
  const [follower] = await followers();
  await paused(
    [follower].filter((each) => each !== undefined),
    `count(up{job="${JOB}"} == 0) == 1`,
  );
});
await step("both followers are paused, and no server leads", async () => {
  await paused(await followers(), `absent(leader_uptime{job="${JOB}"})`);
});
await step("load behind the faults", calm);
await step("the backup is compared with its log", async () => {
  // A second base, after a minute, is compared with the first.
  await seen("zooid_backup_replayed_age_seconds");
});
await load.rest();
const faults = [...(await load.check()), ...(await unanswered())];
await load.close();
for (const fault of faults) console.log(fault);
await stack.disposeAsync();
if (faults.length === 0 && !options.keep) rmSync(folder, { recursive: true, force: true });
process.exit(faults.length === 0 ? 0 : 1);

/** Gives each server a port for metrics, TLS, a history and a backup; answers their addresses. */
async function withMetrics({ servers }: Ensemble): Promise<readonly string[]> {
  const certificate = join(folder, "server.pem");
  new Authority(folder, "authority").issue(certificate, ["DNS:localhost"]);
  const backup = join(folder, "backup");
  mkdirSync(backup);
  const [port = 0] = await freePorts(1);
  for (const server of servers) {
    const lines = [
      "metricsProvider.className=org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider",
      ...[`metricsProvider.httpHost=${server.host}`, `metricsProvider.httpPort=${port}`],
      ...["secureClientPort=0", `ssl.keyStore.location=${certificate}`, "ssl.clientAuth=none"],
      `maxSessionTimeout=${SESSION_TIMEOUT_MS}`,
      ...["zooid.history.retainMs=3600000", "zooid.history.fileMs=1000"],
      ...[`zooid.backup.target=${backup}`, "zooid.backup.baseEveryMs=60000"],
    ];
    appendFileSync(join(server.folder, "zoo.cfg"), lines.map((line) => `${line}\n`).join(""));
  }
  return servers.map(({ host }) => `${host}:${port}`);
}

/** Limits what the load writes to, so that quotas have metrics. */
async function limitKeys({ servers }: Ensemble): Promise<void> {
  await using zk = await connect(servers.map(({ address }) => address).join());
  await zk.create("/zookeeper/quota/keys", "");
  await zk.create("/zookeeper/quota/keys/zookeeper_limits", "count=1000000,bytes=1000000000");
}

async function followers(): Promise<readonly EnsembleServer[]> {
  const leader = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
  return ensemble.servers.filter((server) => server !== leader);
}

/** Stops servers until Prometheus sees what that leads to, and lets them continue. */
async function paused(servers: readonly EnsembleServer[], effect: string): Promise<void> {
  for (const server of servers) server.signal("SIGSTOP");
  try {
    await seen(effect);
  } finally {
    for (const server of servers) server.signal("SIGCONT");
  }
  await ensemble.untilLevel(DEADLINE_MS);
}

/** Waits until an expression has a value. */
async function seen(query: string): Promise<void> {
  await until(`Prometheus to see ${query}`, DEADLINE_MS, async () => (await prometheus.query(query)).length > 0);
}

/** Waits for some scrapes of every server, of which a busy machine may miss others. */
async function calm(): Promise<void> {
  const beganMs = Date.now();
  await until(`${CALM_SCRAPES} scrapes of each server`, DEADLINE_MS, async () => {
    const seconds = Math.max(1, Math.ceil((Date.now() - beganMs) / 1000));
    const scrapes = await prometheus.query(`sum_over_time(up{job="${JOB}"}[${seconds}s])`);
    return scrapes.length === targets.length && scrapes.every(({ value }) => value >= CALM_SCRAPES);
  });
}

async function step(name: string, work: () => Promise<void>): Promise<void> {
  const startMs = performance.now();
  for (const { host, port } of ensemble.servers) await speakHttp(host, port);
  await work();
  console.log(`${name}: ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
}

/** A request that the client port refuses, and counts. */
async function speakHttp(host: string, port: number): Promise<void> {
  const socket = connectTcp({ host, port });
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  socket.on("error", () => {});
  socket.on("close", () => close());
  socket.resume().end("GET / HTTP/1.1\r\n\r\n");
  await closed;
}

/** The expressions that no number was given for. */
async function unanswered(): Promise<readonly string[]> {
  const ours = expressionsOfBoards(join(ROOT, "deploy/grafana"), JOB);
  const alerts = expressionsOfAlerts(await prometheus.rules());
  const foreign = foreignExpressions();
  const found: string[] = [];
  for (const { by, query } of [...ours, ...alerts, ...foreign]) {
    if ((await prometheus.countSince(query, startSeconds)) === 0) found.push(`no value: ${query} (${by})`);
  }
  const counts = `${ours.length} expressions of boards, ${alerts.length} of alerts, ${foreign.length} of others' boards`;
  console.log(found.length === 0 ? `${counts}: each had a number` : `${counts}: FAILED`);
  return found;
}
