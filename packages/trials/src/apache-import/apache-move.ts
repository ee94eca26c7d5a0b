/**
 * Moves an Apache ensemble to Zooid while it is stopped, under clients that keep their sessions.
 *
 *     npm run tool -- apache-move [--rounds 4] [--clients 12] [--nodes 0] [--session-ms 40000]
 *         [--version 3.9.5] [--keep]
 *
 * Clients of ours, kazoo and ZooKeeper's Java client have the addresses of both sides from the
 * start. They hold ephemeral nodes, places in a sequence and, one after the other, a lock; children
 * are watched. Apache's three servers are stopped, or killed in every second round; `zooid-server
 * import` takes the directories of all three; one server of ours starts in odd rounds, an ensemble
 * of three in even ones. Each client must continue with its session and its node, the next sequence
 * number must follow, at most one client may hold the lock, and a changed child must reach the
 * watch. With `--nodes` Apache has that number of further nodes, and the round says how long each
 * step takes. Needs Java, Maven and Python.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { fetchApacheJars, installKazoo, javaProgram, kazooProgram } from "@zooid/conformance/internal/clients";
import { fourLetterWord, ZOOID_SERVER } from "@zooid/conformance/internal/servers/endpoint";
import { text, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { run } from "../processes/run.ts";
import { writeLargeSnapshot } from "./large-snapshot.ts";
import { Side } from "./moved-side.ts";
import { FOLDER, MovingClients } from "./moving-clients.ts";
import { ReportingClient } from "./reporting-client.ts";

const APACHE_SIDS = [1, 2, 3];
/** Numbers of our servers, different from Apache's as the import advises. */
const ZOOID_SIDS = [11, 12, 13];
const IMPORT_MS = 600_000;

const options = toolOptions({
  rounds: whole(4, 1),
  clients: whole(12, 1),
  nodes: 0,
  "session-ms": whole(40_000, 4000),
  version: text,
  keep: false,
});
const sessionMs = options["session-ms"];
const jars = fetchApacheJars(...(options.version === undefined ? [] : [options.version]));
const folder = mkdtempSync(join(tmpdir(), "apache-move-"));
let failure: unknown;
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
  const isKilled = round % 2 === 0;
  const zooidSids = round % 2 === 1 ? ZOOID_SIDS.slice(0, 1) : ZOOID_SIDS;
  const apache = await newSide("apache", place, APACHE_SIDS);
  const zooid = await newSide("zooid", place, zooidSids);
  if (options.nodes > 0) {
    for (const { dataDir } of apache.servers) {
      mkdirSync(join(dataDir, "version-2"), { recursive: true });
      await writeLargeSnapshot(join(dataDir, "version-2", "snapshot.1"), options.nodes);
    }
  }
  await using _apache = apache;
  await using _zooid = zooid;
  await Promise.all(apache.servers.map((server) => server.start()));
  const hosts = `${apache.hosts},${zooid.hosts}`;
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
  const ended = await orphan(hosts);

  const startMs = performance.now();
  await apache.end(isKilled);
  const stoppedMs = performance.now();
  const dataDirs = apache.servers.map(({ dataDir }) => dataDir).join(",");
  const [first] = zooid.servers;
  ok(first !== undefined);
  const argv = ["import", "--apache", dataDirs, "--data", first.dataDir];
  // The test's own files are in the directory: a server finds its myid there.
  rmSync(first.dataDir, { recursive: true });
  if (zooidSids.length > 1) argv.push("--as-member", `${zooidSids[0]}=${zooid.addressOf(0)};127.0.0.1:${first.port}`);
  const { stdout, stderr } = await run(ZOOID_SERVER, argv, place, process.env, IMPORT_MS);
  const importedMs = performance.now();
  zooid.writeNumbers();
  await Promise.all(zooid.servers.map((server) => server.start()));
  const servedMs = performance.now();
  const after = [...(await clients.reports()), ...(await Promise.all(foreign.map((client) => client.ask())))];
  const resumedMs = performance.now();

  console.log((stdout + stderr).trim());
  deepStrictEqual(after, before, "each client has its session and its node, and lost neither");
  await clients.check(before, ended);
  ok((await fourLetterWord(first.port, "mntr")).includes(`zooid_derived_password_sessions\t${before.length + 1}`));
  const seconds = (from: number, to: number): string => ((to - from) / 1000).toFixed(1);
  console.log(
    `round ${round}: Apache was ${isKilled ? "killed" : "stopped"}, ${zooidSids.length} of ours; ${before.length} sessions kept, 0 lost; ` +
      `${clients.grants} grants of the lock, one at a time; seconds: stop ${seconds(startMs, stoppedMs)}, ` +
      `import ${seconds(stoppedMs, importedMs)}, start ${seconds(importedMs, servedMs)}, clients ${seconds(servedMs, resumedMs)}, ` +
      `all ${seconds(startMs, resumedMs)}${options.nodes > 0 ? `, with ${options.nodes} nodes` : ""}`,
  );
}

/** A session that is open when the ensemble stops, and whose client never comes back. */
async function orphan(hosts: string): Promise<string> {
  const zk = await connect(hosts, { sessionTimeoutMs: sessionMs });
  const { path } = await zk.create("/orphan", "", { mode: "ephemeral" });
  zk.disconnect();
  return path;
}

async function newSide(kind: "apache" | "zooid", place: string, sids: readonly number[]): Promise<Side> {
  return new Side({ kind, folder: join(place, kind), ports: await freePorts(9), sids, jars, sessionMs });
}
