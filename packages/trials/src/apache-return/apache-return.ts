/**
 * An Apache ensemble of three servers whose clients Zooid takes over, and that gets them back by
 * `zooid-cli migrate return`, again and again.
 *
 *     npm run tool -- apache-return [--rounds 5] [--aborts 2] [--clients 6] [--own 3]
 *         [--session-ms 120000] [--version 3.9.5] [--keep]
 *
 * Clients of ours, kazoo and ZooKeeper's Java client have the addresses of both sides from the
 * start, and keep their sessions, ephemeral nodes and places in a sequence through all rounds; ours
 * hold a lock one after the other, and one of them writes all the time. Each round's Zooid ensemble
 * is a new one. While it serves, further clients open sessions there, which must end with the
 * return and not before. Before it come aborts: the command line is killed or interrupted at a
 * random moment, and `migrate return --abort` must bring back every session.
 *
 * Then: as many sessions are kept and ended as the command says, each of Apache's servers has the
 * tree that the ensemble had, node by node but for the nodes of ended sessions, no acknowledged
 * write is missing, numbers of sequences rise, and watches show that nodes went with their
 * sessions, one of Java's as well, which reads only when it fires. Needs Java, Maven and Python.
 */
import { deepStrictEqual, equal, match, ok } from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { fetchApacheJars, installKazoo, javaProgram, kazooProgram } from "@zooid/conformance/internal/clients";
import { Random } from "@zooid/conformance/internal/random";
import { fourLetterWord } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, text, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { ApacheSnapshotDecoder, ApacheTree } from "@zooid/txn-log/sqlite";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { until } from "../apache-follow/event-reader.ts";
import { servedOf } from "../apache-follow/followed-tree.ts";
import { FollowerProcess } from "../apache-follow/follower-process.ts";
import { Side } from "../apache-import/moved-side.ts";
import { FOLDER, MovingClients } from "../apache-import/moving-clients.ts";
import { type ClientReport, ReportingClient } from "../apache-import/reporting-client.ts";
import { differences, servedTree } from "../apache-import/served-tree.ts";
import { ClientGates } from "../apache-take-over/client-gates.ts";
import { AUTH, act, adminLines, type Ended, migrate, SUPER } from "../apache-take-over/migrate-command.ts";
import { OperatorPort } from "../apache-take-over/operator-port.ts";
import { OwnClients } from "./own-clients.ts";
import { Witness } from "./witness.ts";

const APACHE_SIDS = [1, 2, 3];
/** Numbers of our servers, different from Apache's as an import advises. */
const ZOOID_SIDS = [11, 12, 13];
/** The folder of the nodes of sessions that end. */
const OWN = "/own";
const DATA_FOLDER = "version-2";

const options = toolOptions({
  rounds: whole(5, 1),
  aborts: whole(2, 0),
  clients: whole(6, 1),
  own: whole(3, 1),
  "session-ms": whole(120_000, 4000),
  version: text,
  seed: newSeed(),
  keep: false,
});
const sessionMs = options["session-ms"];
const random = new Random(options.seed);
const jars = fetchApacheJars(...(options.version === undefined ? [] : [options.version]));
const folder = mkdtempSync(join(tmpdir(), "apache-return-"));
let failure: unknown;
console.log(`seed ${options.seed}, data in ${folder}`);
try {
  await main();
} catch (error) {
  failure = error;
  console.log(error instanceof Error ? error.stack : String(error));
}
if (options.keep || failure !== undefined) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(failure === undefined ? `${options.rounds} rounds passed` : "FAILED");
process.exit(failure === undefined ? 0 : 1);

/** The report of a client that reads a node's children only when its watch fires. */
interface WatchReport {
  readonly session: string;
  readonly names: readonly string[];
}

/** The parts that live through all rounds. */
interface World {
  readonly ports: readonly number[];
  readonly apache: Side;
  readonly gates: ClientGates;
  readonly operator: OperatorPort;
  readonly hosts: string;
  readonly witness: Witness;
  readonly movers: MovingClients;
  readonly childWatch: ReportingClient<WatchReport>;
  readonly sessionCount: number;
  /** Numbers of the sequence that were taken. */
  taken: number;
  reports(): Promise<readonly ClientReport[]>;
}

async function main(): Promise<void> {
  const ports = await freePorts(28);
  await using apache = new Side({
    kind: "apache",
    folder: join(folder, "apache"),
    ports: ports.slice(0, 9),
    sids: APACHE_SIDS,
    jars,
    sessionMs,
    heap: "256m",
    properties: [`-Dzookeeper.${SUPER}`],
    settings: (i) => adminLines(ports[18 + i]),
  });
  await Promise.all(apache.servers.map((server) => server.start()));
  await using gates = await ClientGates.to(
    apache.servers.map(({ port }) => port),
    ports.slice(25, 28),
  );
  await using operator = await OperatorPort.start(async (what, port) => {
    const server = apache.servers.find((each) => each.port === port);
    if (server === undefined) throw new Error(`no server has the port ${port}`);
    await act(what, server, gates);
  });
  const hosts = `${gates.hosts},${ports
    .slice(9, 12)
    .map((port) => `127.0.0.1:${port}`)
    .join(",")}`;
  await using witness = await Witness.start(hosts, OWN, sessionMs);
  await using movers = await MovingClients.start(hosts, options.clients, sessionMs);
  using kazoo = new ReportingClient([installKazoo(), kazooProgram("mover.py"), hosts, `${sessionMs / 1000}`, FOLDER]);
  const javaCommand = ["java", "-cp", `${jars}/*`, javaProgram("Mover.java"), hosts, `${sessionMs}`, FOLDER];
  using java = new ReportingClient(javaCommand);
  const watchCommand = ["java", "-cp", `${jars}/*`, javaProgram("ChildWatch.java"), hosts, `${sessionMs}`, OWN];
  using childWatch = new ReportingClient<WatchReport>(watchCommand);
  const foreign = [kazoo, java];
  await Promise.all([childWatch.first(), ...foreign.map((client) => client.first())]);
  const world: World = {
    ports,
    apache,
    gates,
    operator,
    hosts,
    witness,
    movers,
    childWatch,
    sessionCount: options.clients + foreign.length + 2,
    taken: options.clients + foreign.length,
    reports: async () => [...(await movers.reports()), ...(await Promise.all(foreign.map((client) => client.ask())))],
  };
  const before = await world.reports();
  for (let round = 1; round <= options.rounds; round++) await runRound(round, world, before);
}

async function runRound(round: number, world: World, before: readonly ClientReport[]): Promise<void> {
  const { ports, apache, operator, hosts } = world;
  const place = join(folder, `round-${round}`);
  const backup = join(place, "backup");
  mkdirSync(backup, { recursive: true });
  const memberAdmins = ports.slice(21, 24);
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
  const members = memberAdmins.map((port) => `http://127.0.0.1:${port}`).join(",");
  {
    await using follower = new FollowerProcess(
      join(place, "follower"),
      apache.servers.map((_, i) => apache.addressOf(i)).join(","),
      ports[24] ?? 0,
      { settings: [`zooid.backup.target=${backup}`, "zooid.history.retainMs=3600000"] },
    );
    await Promise.all(zooid.servers.map((server) => server.launch()));
    follower.launch();
    await follower.reached(({ state }) => state === "following");
    const taken = await migrate([
      ...["take-over", "--apache", apache.hosts, "--follower", `http://127.0.0.1:${ports[24]}`, "--members", members],
      ...["--admin-auth", AUTH, "--auth", AUTH, ...operator.options, "--within", `${sessionMs / 2}`, "--yes"],
      ...ports.slice(18, 21).flatMap((port) => ["--admin", `http://127.0.0.1:${port}`]),
    ]);
    equal(taken.status, 0, taken.output);
    await checkClients(world, before, "the take-over");
  }
  using own = await OwnClients.start(hosts, OWN, options.own, sessionMs);
  await checkWatches(world, own.names);
  const places = ["--members", members, "--apache-servers", apache.hosts, "--admin-auth", AUTH, "--yes"];
  for (let i = 1; i <= options.aborts; i++) {
    const how = await abortOnce(join(place, `out-abort-${i}`), places);
    await checkClients(world, before, `an abort (${how})`);
    await own.checkLost(0);
    console.log(`round ${round}, abort ${i}: ${how}; ${world.sessionCount + own.count} sessions kept`);
  }
  const out = join(place, "out");
  const startMs = performance.now();
  const returned = await migrate(["return", "--apache", out, ...places]);
  equal(returned.status, 0, returned.output);
  const returnedMs = performance.now();
  checkCounts(returned, world.sessionCount, own.count);
  await startApache(apache, out, round);
  const startedMs = performance.now();
  const different = await differentPaths(apache, memberAdmins[0] ?? 0);
  deepStrictEqual(different, [OWN, ...own.names.map((name) => `${OWN}/${name}`)].toSorted());
  await Promise.all(apache.servers.map(({ port }) => world.gates.open(port)));
  const openMs = performance.now();
  await checkWatches(world, []);
  await checkClients(world, before, "the return");
  const servedMs = performance.now();
  await own.checkLost(1);
  await own.close();
  for (const { port } of zooid.servers)
    equal(await fourLetterWord(port, "srvr"), "", "a member that still runs stays closed");
  const seen = returned.output.split("\n").filter((line) => line.includes(" ms: "));
  console.log(seen.join("\n"));
  console.log(
    `round ${round}: ${world.sessionCount} sessions kept, ${own.count} ended, as said; ${world.witness.ackedCount} acknowledged writes, 0 missing; ` +
      `${world.movers.grants} grants of the lock, one at a time; the command took ${Math.round(returnedMs - startMs)} ms, ` +
      `copying and starting Apache ${Math.round(startedMs - returnedMs)} ms, comparing ${Math.round(openMs - startedMs)} ms, clients ${Math.round(servedMs - openMs)} ms`,
  );
}

/** The watches of a client of ours and of Java's show these children, sooner or later. */
async function checkWatches({ childWatch, witness }: World, names: readonly string[]): Promise<void> {
  await witness.watches(names);
  let last: WatchReport | undefined;
  await until(
    async () => {
      last = await childWatch.ask();
      return isDeepStrictEqual(last.names, names.toSorted());
    },
    () => `Java's watch shows ${JSON.stringify(last?.names)}, and not ${JSON.stringify(names)}`,
  );
}

/** Each client has its session and its node, writes are taken, and sequences continue. */
async function checkClients(world: World, before: readonly ClientReport[], behind: string): Promise<void> {
  deepStrictEqual(await world.reports(), before, `each client has its session and its node behind ${behind}`);
  await world.witness.isServed();
  await world.witness.checkWrites();
  equal(await world.witness.nextNumber(FOLDER), world.taken++, `the sequence continues behind ${behind}`);
  await world.movers.checkLock();
}

/** @returns how it was aborted */
async function abortOnce(out: string, places: readonly string[]): Promise<string> {
  const step = random.between(2, 5);
  const signal = random.between(0, 1) === 0 ? "SIGKILL" : "SIGINT";
  const ending = { at: new RegExp(`^${step}\\. `, "m"), afterMs: random.between(0, 50), signal } as const;
  const { status, output } = await migrate(["return", "--apache", out, ...places], ending);
  ok(status === null || status === 0 || status === 1, output);
  const undone = await migrate(["return", "--abort", ...places]);
  equal(undone.status, 0, undone.output);
  const how = status === null ? "killed" : status === 0 ? "completed" : "undone";
  return `${signal} in step ${step}: ${how}`;
}

function checkCounts({ output }: Ended, kept: number, ended: number): void {
  match(output, new RegExp(`: ${kept} sessions kept, the shortest timeout is ${sessionMs} ms`));
  match(output, new RegExp(`: ${ended} sessions with passwords .* ended, with ${ended} ephemeral znodes`));
}

/** As the command says: each voter gets the same files, and keeps its number. */
async function startApache(apache: Side, out: string, round: number): Promise<void> {
  for (const { dataDir } of apache.servers) {
    renameSync(join(dataDir, DATA_FOLDER), join(dataDir, `before-return-${round}`));
    cpSync(join(out, DATA_FOLDER), join(dataDir, DATA_FOLDER), { recursive: true });
  }
  for (const server of apache.servers) server.launchAgain();
  for (const server of apache.servers)
    await until(
      async () => (await fourLetterWord(server.port, "srvr")).includes("Mode:"),
      () => `Apache's server at ${server.port} does not serve:\n${server.logTail()}`,
    );
}

/** Paths at which one of Apache's servers has something else than the ensemble that is closed. */
async function differentPaths(apache: Side, adminPort: number): Promise<readonly string[]> {
  const answer = await fetch(`http://127.0.0.1:${adminPort}/commands/snapshot`, { headers: { authorization: AUTH } });
  const tree = new ApacheTree();
  const decoder = new ApacheSnapshotDecoder(tree);
  decoder.add(Buffer.from(await answer.arrayBuffer()));
  decoder.end();
  const expected = servedOf(tree);
  const lines: string[] = [];
  for (const { port } of apache.servers)
    lines.push(...differences(expected, await servedTree(port), ["the ensemble", "Apache"]));
  return [...new Set(lines.map((line) => line.slice(0, line.indexOf(": "))))].toSorted();
}
