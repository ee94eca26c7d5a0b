/**
 * `zooid-cli migrate take-over` and `migrate abort` at Apache ensembles of three servers.
 *
 *     npm run tool -- apache-take-over [--rounds 4] [--aborts 4] [--clients 12] [--session-ms 40000]
 *         [--nodes 0] [--version 3.9.5] [--within-ms 14000] [--keep]
 *
 * Clients of ours, kazoo and ZooKeeper's Java client have the addresses of both sides from the
 * start; those of Apache's servers are gates that the operator's command closes. They hold
 * ephemeral nodes, places in a sequence and, one after the other, a lock; children are watched.
 * Three members stand by. `--nodes` further nodes are there before. In odd rounds every voter is
 * stopped, in even ones a reconfiguration leaves the leader alone first. Before a round's take-over
 * come its aborts: the command line is killed at a random moment, or an operator's command fails,
 * and Apache must serve the same clients again, by the take-over's own way back or by `migrate
 * abort`. Then the take-over must succeed: each client continues with its session and its node, the
 * next sequence number follows, at most one client holds the lock, and a changed child reaches the
 * watch. Needs Java, Maven and Python.
 */
import { deepStrictEqual, equal, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { fetchApacheJars, installKazoo, javaProgram, kazooProgram } from "@zooid/conformance/internal/clients";
import { Random } from "@zooid/conformance/internal/random";
import { newSeed, text, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { FollowerProcess } from "../apache-follow/follower-process.ts";
import { Side } from "../apache-import/moved-side.ts";
import { FOLDER, MovingClients } from "../apache-import/moving-clients.ts";
import { type ClientReport, ReportingClient } from "../apache-import/reporting-client.ts";
import { ClientGates } from "./client-gates.ts";
import { AUTH, act, adminLines, migrate, SUPER } from "./migrate-command.ts";
import { type OperatorAct, OperatorPort } from "./operator-port.ts";

const APACHE_SIDS = [1, 2, 3];
/** Numbers of our servers, different from Apache's as an import advises. */
const ZOOID_SIDS = [11, 12, 13];
const STATUS_KILLED = null;
const NODES_OF_FOLDER = 1000;
const TRANSACTIONS_AT_ONCE = 8;

const options = toolOptions({
  rounds: whole(4, 1),
  aborts: whole(4, 0),
  clients: whole(12, 1),
  "session-ms": whole(40_000, 4000),
  "within-ms": whole(14_000, 100),
  nodes: whole(0, 0),
  version: text,
  seed: newSeed(),
  keep: false,
});
const sessionMs = options["session-ms"];
const random = new Random(options.seed);
const jars = fetchApacheJars(...(options.version === undefined ? [] : [options.version]));
const folder = mkdtempSync(join(tmpdir(), "apache-take-over-"));
let failure: unknown;
console.log(`seed ${options.seed}, data in ${folder}`);
try {
  for (let round = 1; round <= options.rounds; round++) await runRound(round);
} catch (error) {
  failure = error;
  console.log(error instanceof Error ? error.stack : String(error));
}
if (options.keep || failure !== undefined) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(failure === undefined ? `${options.rounds} rounds passed` : "FAILED");
process.exit(failure === undefined ? 0 : 1);

async function runRound(round: number): Promise<void> {
  const place = join(folder, `round-${round}`);
  const backup = join(place, "backup");
  mkdirSync(backup, { recursive: true });
  const fence = round % 2 === 1 ? [] : ["--reconfig"];
  const ports = await freePorts(28);
  const apacheAdmins = ports.slice(18, 21);
  const memberAdmins = ports.slice(21, 24);
  await using apache = new Side({
    kind: "apache",
    folder: join(place, "apache"),
    ports: ports.slice(0, 9),
    sids: APACHE_SIDS,
    jars,
    sessionMs,
    heap: "256m",
    properties: [`-Dzookeeper.${SUPER}`],
    settings: (i) => [
      "reconfigEnabled=true",
      "standaloneEnabled=false",
      ...adminLines(apacheAdmins[i]),
      // A server without a port for clients in its line cannot be added again.
      ...APACHE_SIDS.map(
        (sid, at) => `server.${sid}=127.0.0.1:${ports[3 + at]}:${ports[6 + at]};127.0.0.1:${ports[at]}`,
      ),
    ],
  });
  await using zooid = new Side({
    kind: "zooid",
    folder: join(place, "zooid"),
    ports: ports.slice(9, 18),
    sids: ZOOID_SIDS,
    jars,
    sessionMs,
    settings: (i) => [
      "zooid.clients=closed",
      `zooid.standby.from=${backup}`,
      SUPER,
      "admin.rateLimiterIntervalInMS=0",
      ...adminLines(memberAdmins[i]),
    ],
  });
  const followerPort = ports[24] ?? 0;
  await using follower = new FollowerProcess(
    join(place, "follower"),
    apache.servers.map((_, i) => apache.addressOf(i)).join(","),
    followerPort,
    { settings: [`zooid.backup.target=${backup}`, "zooid.history.retainMs=3600000"] },
  );
  await Promise.all([
    ...apache.servers.map((server) => server.start()),
    ...zooid.servers.map((server) => server.launch()),
  ]);
  const apachePorts = apache.servers.map(({ port }) => port);
  await using gates = await ClientGates.to(apachePorts, ports.slice(25, 28));
  const faults = new Map<OperatorAct, number>();
  await using operator = await OperatorPort.start(async (what, port) => {
    const left = faults.get(what) ?? 0;
    faults.set(what, left - 1);
    if (left > 0) throw new Error("this command fails");
    const server = apache.servers.find((each) => each.port === port);
    if (server === undefined) throw new Error(`no server has the port ${port}`);
    await act(what, server, gates);
  });
  if (options.nodes > 0) await createNodes(apache.hosts, options.nodes);
  follower.launch();
  await follower.reached(({ state }) => state === "following");

  const hosts = `${gates.hosts},${zooid.hosts}`;
  await using clients = await MovingClients.start(hosts, options.clients, sessionMs);
  using kazoo = new ReportingClient([installKazoo(), kazooProgram("mover.py"), hosts, `${sessionMs / 1000}`, FOLDER]);
  using java = new ReportingClient([
    "java",
    "-cp",
    `${jars}/*`,
    javaProgram("Mover.java"),
    hosts,
    `${sessionMs}`,
    FOLDER,
  ]);
  const foreign = [kazoo, java];
  const before = [...(await clients.reports()), ...(await Promise.all(foreign.map((client) => client.first())))];
  const orphan = await orphanOf(hosts);
  const reports = async (): Promise<readonly ClientReport[]> => [
    ...(await clients.reports()),
    ...(await Promise.all(foreign.map((client) => client.ask()))),
  ];

  const places = [
    ...["--apache", apache.hosts, "--follower", `http://127.0.0.1:${followerPort}`],
    ...["--members", memberAdmins.map((port) => `http://127.0.0.1:${port}`).join(",")],
    ...["--admin-auth", AUTH, "--auth", AUTH],
    ...apacheAdmins.flatMap((port) => ["--admin", `http://127.0.0.1:${port}`]),
  ];
  const takeOver = [
    "take-over",
    ...places,
    ...operator.options,
    ...fence,
    "--within",
    `${options["within-ms"]}`,
    "--yes",
  ];
  for (let i = 1; i <= options.aborts; i++) {
    const how = await abortOnce(takeOver, ["abort", ...places, ...operator.release], faults);
    deepStrictEqual(await reports(), before, `each client has its session and its node after an abort (${how})`);
    console.log(`round ${round}, abort ${i}: ${how}; ${before.length} sessions kept`);
  }
  const startMs = performance.now();
  const taken = await migrate(takeOver);
  equal(taken.status, 0, taken.output);
  const takenMs = performance.now();
  console.log(
    taken.output
      .split("\n")
      .filter((line) => line.includes(" ms: "))
      .join("\n"),
  );
  const after = await reports();
  const resumedMs = performance.now();
  deepStrictEqual(after, before, "each client has its session and its node, and lost neither");
  await clients.check(before, orphan);
  const stop = /clients are served, (\d+) ms after the block/.exec(taken.output)?.[1] ?? "?";
  console.log(
    `round ${round}: ${fence.length === 0 ? "voters stopped" : "reconfigured, then stopped"}; ${before.length} sessions kept, 0 lost; ` +
      `${clients.grants} grants of the lock, one at a time; block to opening ${stop} ms; ` +
      `the command took ${Math.round(takenMs - startMs)} ms, clients ${Math.round(resumedMs - takenMs)} ms more`,
  );
}

/** @returns how it was aborted */
async function abortOnce(
  takeOver: readonly string[],
  abort: readonly string[],
  faults: Map<OperatorAct, number>,
): Promise<string> {
  const isFailing = random.between(0, 1) === 0;
  if (isFailing) {
    const what: OperatorAct = random.between(0, 1) === 0 ? "block" : "fence";
    // A minority need not be fenced, nor servers that a reconfiguration has removed.
    faults.set(what, what === "fence" ? APACHE_SIDS.length : 1);
    const { status, output } = await migrate([...takeOver.with(takeOver.indexOf("--within") + 1, "6000")]);
    faults.delete(what);
    equal(status, 1, output);
    ok(output.includes("Apache serves its clients again"), output);
    return `--${what} failed`;
  }
  const step = random.between(2, 6);
  const { status, output } = await migrate(takeOver, {
    at: new RegExp(`^${step}\\. `, "m"),
    afterMs: random.between(0, 300),
    signal: "SIGKILL",
  });
  equal(status, STATUS_KILLED, output);
  const undone = await migrate(abort);
  equal(undone.status, 0, undone.output);
  return `killed in step ${step}`;
}

/** Nodes of 100 bytes, a thousand in each folder. */
async function createNodes(hosts: string, count: number): Promise<void> {
  await using zk = await connect(hosts, { sessionTimeoutMs: sessionMs });
  const data = Buffer.alloc(100, "x");
  const creating = new Set<Promise<unknown>>();
  for (let from = 0; from < count; from += NODES_OF_FOLDER) {
    const parent = `/many-${from / NODES_OF_FOLDER}`;
    const transaction = zk.transaction().create(parent, "");
    for (let i = from; i < Math.min(count, from + NODES_OF_FOLDER); i++) transaction.create(`${parent}/${i}`, data);
    const made: Promise<unknown> = transaction.commit().then(() => creating.delete(made));
    creating.add(made);
    if (creating.size >= TRANSACTIONS_AT_ONCE) await Promise.race(creating);
  }
  await Promise.all(creating);
}

/** A session that is open at the take-over, and whose client never comes back. */
async function orphanOf(hosts: string): Promise<string> {
  const zk = await connect(hosts, { sessionTimeoutMs: sessionMs });
  const { path } = await zk.create("/orphan", "", { mode: "ephemeral" });
  zk.disconnect();
  return path;
}
