/**
 * `zooid-cli migrate check` and `migrate compare` at Apache ensembles of three servers.
 *
 *     npm run tool -- apache-migrate [--version 3.9.5] [--load-ms 1500] [--clients 4] [--seed N] [--keep]
 *
 * Ensembles are configured and filled so that each finding of `migrate check` is there that one of
 * this version can have; all must be found, and nothing else. Then an ensemble is changed by random
 * requests while a follower has its data: no node may be found different, and none may be left out
 * once the requests end. It is stopped and imported, and started again beside the server that has
 * its data: `migrate compare` must find both equal, by the admin port and by the client port. Then
 * Apache's data, an access list, a version, a missing and a further node are changed: each must be
 * found at each of the three servers, with its fields, and nothing else. Needs Java and Maven.
 */
import { deepStrictEqual, equal, ok } from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, connect, digestId } from "@zooid/client";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { Random } from "@zooid/conformance/internal/random";
import {
  fourLetterWord,
  ROOT,
  ServerProcess,
  startEndpoint,
  ZOOID_SERVER,
} from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, text, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { freePort, freePorts } from "@zooid/wire/testing/free-ports";
import { FollowerProcess } from "../apache-follow/follower-process.ts";
import { ApacheLoad, USER } from "../apache-import/apache-load.ts";
import { Side } from "../apache-import/moved-side.ts";
import { run } from "../processes/run.ts";

const ZOOID_CLI = join(ROOT, "node_modules/.bin/zooid-cli");
const SETTLE_MS = 20_000;
const POLL_MS = 200;
const IMPORT_MS = 120_000;
/** The superuser's password is `test`. */
const SUPER = "DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const SUPER_AUTH = "digest super:test";
/** Above what a new history may begin with: 1024 below the last epoch. */
const LATE_EPOCH = 2 ** 21 - 1000;
const LONG_DATA_BYTES = 1_100_000;
const MAX_BUFFER = 4 * 1024 * 1024;
const OPEN = [{ perms: 31, scheme: "world", id: "anyone" }] as const;

const options = toolOptions({
  version: text,
  "load-ms": whole(1500, 100),
  clients: whole(4, 1),
  seed: newSeed(),
  keep: false,
});
const jars = fetchApacheJars(...(options.version === undefined ? [] : [options.version]));
const folder = mkdtempSync(join(tmpdir(), "apache-migrate-"));
let failure: unknown;
console.log(`seed ${options.seed}, data in ${folder}`);
try {
  await step("findings of a loosely configured ensemble", checkLoose);
  await step("findings of a late ensemble", checkLate);
  await step("findings of a server alone", checkAlone);
  await step("a comparison after an import", compareImported);
} catch (error) {
  failure = error;
  console.log(error instanceof Error ? error.stack : String(error));
}
if (options.keep || failure !== undefined) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(failure === undefined ? "passed" : "FAILED");
process.exit(failure === undefined ? 0 : 1);

async function step(name: string, act: () => Promise<string>): Promise<void> {
  const startMs = performance.now();
  const found = await act();
  console.log(`${name}: ${((performance.now() - startMs) / 1000).toFixed(1)} s, ${found}`);
}

/** Settings and data that have to be prepared for, each by one of them. */
async function checkLoose(): Promise<string> {
  const adminPorts = await freePorts(3);
  await using apache = await startedSide("loose", {
    sids: [1, 2, 3],
    properties: [`-Djute.maxbuffer=${MAX_BUFFER}`, `-Dzookeeper.${SUPER}`, "-Dzookeeper.digest.enabled=false"],
    settings: (i) => [
      ...adminLines(adminPorts[i]),
      "localSessionsEnabled=true",
      "localSessionsUpgradingEnabled=true",
      "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
      "authProvider.2=org.apache.zookeeper.server.auth.KeyAuthenticationProvider",
      ...(i === 0 ? ["extendedTypesEnabled=true", "emulate353TTLNodes=true"] : []),
    ],
  });
  await using zk = await connect(apache.hosts, { sessionTimeoutMs: 5000, frameBytesMax: MAX_BUFFER });
  await using local = await connect(apache.hosts);
  await zk.create("/long", Buffer.alloc(LONG_DATA_BYTES));
  await zk.create(`/${"x".repeat(17_000)}`, "");
  await zk.create("/closed", "", { acl: [{ perms: 31, scheme: "digest", id: digestId("alice", "secret") }] });
  await zk.create("/key", "", { acl: [...OPEN, { perms: 31, scheme: "key", id: "7" }] });
  await zk.create("/sasl", "", { acl: [...OPEN, { perms: 31, scheme: "sasl", id: "bob" }] });
  await zk.create("/owned", "", { mode: "ephemeral" });
  const found = await check(apache.hosts, adminPorts, "--sids", "1,12,13");
  deepStrictEqual(idsOf(found), [
    "data-long",
    "digests-missing",
    "fence-by-stop",
    "frame-larger",
    "limits-to-copy",
    "local-sessions",
    "nodes-unread",
    "path-long",
    "scheme-to-configure",
    "scheme-unknown",
    "server-number-taken",
    "super-user",
    "timeout-short",
    "ttl-emulated",
    "ttl-flags-differ",
  ]);
  const { tree, servers } = found.facts;
  deepStrictEqual(
    [tree?.longestData, tree?.ephemerals, servers.length],
    [{ count: LONG_DATA_BYTES, path: "/long" }, 1, 3],
  );
  deepStrictEqual(servers.map(({ sid }) => sid).sort(), [1, 2, 3]);
  ok(found.findings.find(({ id }) => id === "timeout-short")?.found.includes(zk.sessionId.toString(16)));
  const withAuth = await check(apache.hosts, adminPorts, "--auth", `digest ${USER}`);
  ok(!idsOf(withAuth).includes("nodes-unread"));
  // Members of an ensemble do not show their zoo.cfg.
  deepStrictEqual(
    withAuth.missing.map((line) => /^settings of .*sslQuorum/.test(line)),
    [true, true, true],
  );

  await Promise.all([zk.close(), local.close()]);
  // Two servers of three are stopped: the third one has no leader.
  await Promise.all(apache.servers.slice(0, 2).map((server) => server.kill()));
  const { port } = apache.servers[2] as ServerProcess;
  await until(async () => (await fourLetterWord(port, "srvr")).includes("not currently serving"));
  const minority = await check(apache.hosts, adminPorts);
  for (const id of ["apache-silent", "apache-no-leader"]) ok(idsOf(minority).includes(id), `${id} is not found`);
  return `${idsOf(found).length + 2} kinds found`;
}

/** Servers near the last epoch and the last number, whose access lists are not checked. */
async function checkLate(): Promise<string> {
  const adminPorts = await freePorts(3);
  const side = await newSide("late", {
    sids: [1, 2, 254],
    properties: [],
    settings: (i) => [...adminLines(adminPorts[i]), "skipACL=yes", "reconfigEnabled=true", "standaloneEnabled=false"],
  });
  await using apache = side;
  for (const { dataDir } of apache.servers) {
    mkdirSync(join(dataDir, "version-2"), { recursive: true });
    for (const name of ["acceptedEpoch", "currentEpoch"])
      writeFileSync(join(dataDir, "version-2", name), String(LATE_EPOCH));
  }
  await Promise.all(apache.servers.map((server) => server.start()));
  // The epoch is that of the last transaction.
  {
    await using zk = await connect(apache.hosts);
    await zk.create("/a", "");
  }
  const found = await check(apache.hosts, adminPorts);
  deepStrictEqual(idsOf(found), ["access-lists-skipped", "apache-epochs", "limits-to-copy", "server-number-none-left"]);
  return `${idsOf(found).length} kinds found`;
}

/** Settings that only a server alone shows. */
async function checkAlone(): Promise<string> {
  await using server = await startEndpoint("apache", jars, [
    "localSessionsEnabled=true",
    "sslQuorum=true",
    "quorum.auth.kerberos.servicePrincipal=zkquorum/_HOST",
  ]);
  const found = await check(`127.0.0.1:${server.port}`, [server.adminPort]);
  deepStrictEqual(idsOf(found), ["fence-by-stop", "limits-to-copy", "local-sessions", "quorum-kerberos", "quorum-tls"]);
  deepStrictEqual(found.missing, []);
  return `${idsOf(found).length} kinds found`;
}

async function compareImported(): Promise<string> {
  await using apache = await startedSide("moved", {
    sids: [1, 2, 3],
    // Sessions end soon, with their ephemeral nodes, and what is due is reaped.
    sessionMs: 4000,
    properties: [
      "-Dzookeeper.extendedTypesEnabled=true",
      "-Dznode.container.checkIntervalMs=300",
      "-Dfile.encoding=UTF-8",
    ],
    settings: () => [],
  });
  const port = apache.servers[0]?.port ?? 0;
  const load = new ApacheLoad(new Random(options.seed), port);
  await load.begin();
  const running = load.run(options.clients);
  const followerPort = await freePort();
  const hosts = apache.servers.map((_, i) => apache.addressOf(i)).join(",");
  await using following = new FollowerProcess(ownFolder("follower"), hosts, followerPort);
  following.launch();
  await following.reached(({ state, snapshots }) => state === "following" && snapshots > 0);
  await delay(options["load-ms"]);
  const toFollower = ["--follower", `http://127.0.0.1:${followerPort}`, "--admin-auth", SUPER_AUTH];
  const underLoad = await compare(apache.hosts, ...toFollower);
  load.stop();
  await running.catch(() => {});
  deepStrictEqual([underLoad.differences, underLoad.failed], [[], []], "differences under load");
  await until(async () => /zk_ephemerals_count\t0\n/.test(await fourLetterWord(port, "mntr")));
  await untilStill(apache);
  const followed = await compare(apache.hosts, ...toFollower);
  deepStrictEqual([followed.status, followed.differences], [0, []], JSON.stringify(followed));
  await following.stop();
  await apache.end(false);

  const adminPort = await freePort();
  await using zooid = new ServerProcess({
    kind: "zooid",
    folder: ownFolder("zooid"),
    settings: [SUPER, ...adminLines(adminPort), "admin.rateLimiterIntervalInMS=0"],
  });
  rmSync(zooid.dataDir, { recursive: true });
  const dataDirs = apache.servers.map(({ dataDir }) => dataDir).join(",");
  await run(ZOOID_SERVER, ["import", "--apache", dataDirs, "--data", zooid.dataDir], folder, process.env, IMPORT_MS);
  await Promise.all([zooid.start(), ...apache.servers.map((server) => server.start())]);
  await untilStill(apache);

  const follower = ["--follower", `http://127.0.0.1:${adminPort}`, "--admin-auth", SUPER_AUTH];
  const zooidPort = ["--zooid", `127.0.0.1:${zooid.port}`];
  const same = await compare(apache.hosts, ...follower);
  deepStrictEqual([same.status, same.differences, same.failed], [0, [], []], JSON.stringify(same));
  const sameByPort = await compare(apache.hosts, ...zooidPort);
  deepStrictEqual([sameByPort.status, sameByPort.differences], [0, []], JSON.stringify(sameByPort));
  ok(same.nodes > 100, `${same.nodes} nodes`);
  const closed = await compareWithout(apache.hosts, ...follower);
  equal(closed.status, 3, "nodes that may not be read are not called equal");

  let lacking: string;
  {
    await using zk = await connect(apache.hosts);
    await zk.addAuth("digest", USER);
    await zk.create("/further", "");
    const { data } = await zk.get("/f1");
    await zk.set("/f1", data);
    await zk.set("/f2", "another");
    await zk.setAcl("/f3", [...OPEN, { perms: 1, scheme: "ip", id: "10.0.0.0/8" }]);
    lacking = await firstLeaf(zk, "/f4");
    await zk.delete(lacking);
  }
  const after = await compare(apache.hosts, ...follower);
  equal(after.status, 1);
  const fields = new Map(after.differences.map(({ path, fields: those }) => [path, those.map(({ field }) => field)]));
  const expected: readonly (readonly [string, readonly string[]])[] = [
    ["/", ["pzxid", "cversion"]],
    ["/f1", ["version", "mzxid", "mtime"]],
    ["/f2", ["version", "mzxid", "mtime", "data"]],
    ["/f3", ["aversion", "acl"]],
    ["/f4", ["pzxid"]],
    [lacking, ["node"]],
    ["/further", ["node"]],
  ];
  deepStrictEqual([...fields].sort(byPath), [...expected].sort(byPath));
  equal(after.differenceCount, expected.length * apache.servers.length);
  deepStrictEqual(pathsOf(await compare(apache.hosts, ...zooidPort)), [...fields.keys()].sort());
  const moved = underLoad.notCompared.moved.count;
  return `${underLoad.nodes} nodes without a difference on a follower under load, ${moved} of them changing at each of ${underLoad.rounds} readings; ${same.nodes} nodes equal at 3 servers, ${after.differenceCount} differences found where there were as many`;
}

function byPath([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** A node below a folder that has no children, and so can be deleted. */
async function firstLeaf(zk: Client, folderPath: string): Promise<string> {
  for await (const { name, stat } of zk.eachChild(folderPath)) {
    if (stat?.numChildren === 0 && stat.ephemeralOwner === 0n) return `${folderPath}/${name}`;
  }
  throw new Error(`${folderPath} has no node without children`);
}

interface SideDraft {
  readonly sids: readonly number[];
  readonly properties: readonly string[];
  readonly settings: (i: number) => readonly string[];
  readonly sessionMs?: number;
}

function ownFolder(name: string): string {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  return own;
}

async function newSide(name: string, { sessionMs = 30_000, ...draft }: SideDraft): Promise<Side> {
  return new Side({
    kind: "apache",
    folder: ownFolder(name),
    ports: await freePorts(9),
    jars,
    sessionMs,
    heap: "256m",
    ...draft,
  });
}

async function startedSide(name: string, draft: SideDraft): Promise<Side> {
  const side = await newSide(name, draft);
  try {
    await Promise.all(side.servers.map((server) => server.start()));
    return side;
  } catch (error) {
    await side[Symbol.asyncDispose]();
    throw error;
  }
}

function adminLines(port: number | undefined): readonly string[] {
  return ["admin.enableServer=true", "admin.serverAddress=127.0.0.1", `admin.serverPort=${port}`];
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`it took more than ${SETTLE_MS} ms`);
    await delay(POLL_MS);
  }
}

/** No transaction comes for a while: nothing is due any more. */
async function untilStill({ servers }: Side): Promise<void> {
  let last = "";
  let count = 0;
  await until(async () => {
    const answers = await Promise.all(servers.map(({ port }) => fourLetterWord(port, "srvr")));
    const zxids = answers.map((answer) => /Zxid: (\S+)/.exec(answer)?.[1] ?? "none").join();
    count = zxids === last ? count + 1 : 0;
    last = zxids;
    return count >= 10 && !zxids.includes("none");
  });
}

interface CheckResult {
  readonly findings: readonly { readonly id: string; readonly found: string }[];
  readonly missing: readonly string[];
  readonly facts: {
    readonly servers: readonly { readonly sid: number | null }[];
    readonly tree: { readonly longestData: object; readonly ephemerals: number } | null;
  };
}

async function check(hosts: string, adminPorts: readonly number[], ...words: readonly string[]): Promise<CheckResult> {
  const admins = adminPorts.flatMap((port) => ["--admin", `http://127.0.0.1:${port}`]);
  const { result } = await cli("check", hosts, ...admins, ...words);
  return result as unknown as CheckResult;
}

function idsOf({ findings }: CheckResult): readonly string[] {
  return findings.map(({ id }) => id).sort();
}

interface CompareResult {
  readonly status: number;
  readonly nodes: number;
  readonly differenceCount: number;
  readonly differences: readonly { readonly path: string; readonly fields: readonly { readonly field: string }[] }[];
  readonly failed: readonly object[];
  readonly rounds: number;
  readonly notCompared: { readonly moved: { readonly count: number } };
}

async function compare(hosts: string, ...words: readonly string[]): Promise<CompareResult> {
  return await compareWithout(hosts, ...words, "--auth", `digest ${USER}`);
}

async function compareWithout(hosts: string, ...words: readonly string[]): Promise<CompareResult> {
  const { status, result } = await cli("compare", "--apache", hosts, ...words);
  return { ...(result as unknown as CompareResult), status };
}

function pathsOf({ differences }: CompareResult): readonly string[] {
  return [...new Set(differences.map(({ path }) => path))].sort();
}

async function cli(...words: readonly string[]): Promise<{ readonly status: number; readonly result: object }> {
  return await new Promise((resolve, reject) => {
    const child = execFile(
      ZOOID_CLI,
      ["--json", "migrate", ...words],
      { encoding: "utf8", maxBuffer: 2 ** 26 },
      (error, stdout, stderr) => {
        // Statuses other than 0 are answers, too.
        if (stdout === "") reject(error ?? new Error(stderr));
        else resolve({ status: child.exitCode ?? -1, result: JSON.parse(stdout) as object });
      },
    );
  });
}
