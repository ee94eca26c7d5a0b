/**
 * Imports the data directory of an Apache server of 3.9.5, 3.5.9 or 3.4.14 that was killed under
 * load, and compares all nodes with those that Apache serves after a restart; then the way back.
 *
 *     npm run tool -- apache-import [--rounds 6] [--clients 6] [--load-ms 2500] [--seed N] [--keep]
 *
 * The load has every kind of transaction, and the server takes a snapshot every hundred of them
 * while it writes. In each round the server is killed by SIGKILL, `zooid-server import` makes a
 * data directory, and a server serves that: data, access list and Stat of every node must be
 * Apache's. Its sessions and ephemeral nodes are kept in odd rounds, and dropped in even ones. An
 * import from an older snapshot must come to the same tree.
 *
 * Our server is then killed under the same load, and `zooid-server export` makes a data directory.
 * Apache from 3.5 on must serve all of it, again without ephemeral nodes. Needs Java and Maven.
 */
import { deepStrictEqual } from "node:assert/strict";
import { linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { Random } from "@zooid/conformance/internal/random";
import { type ServerOptions, ServerProcess, ZOOID_SERVER } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { type ApacheState, readApache } from "@zooid/embedded-server";
import { run } from "../processes/run.ts";
import { ApacheLoad } from "./apache-load.ts";
import type { Load } from "./load.ts";
import { RawLoad } from "./raw-load.ts";
import { differences, servedTree, withoutEphemerals } from "./served-tree.ts";

const DIFFERENCES_SHOWN = 10;
/** The number of snapshots that are tried in each round. */
const SNAPSHOTS_MAX = 10;
/** The places of czxid, mzxid and pzxid in a stored stat. */
const ZXID_OFFSETS = [0, 8, 52];
/** Servers change them in memory alone. */
const QUOTA_STATS = /^\/zookeeper\/quota\/.*zookeeper_stats$/;
/** Some are read from system properties alone. */
const PROPERTIES = [
  "-Dzookeeper.extendedTypesEnabled=true",
  "-Dfile.encoding=UTF-8",
  "-Dzookeeper.snapCount=100",
  "-Dzookeeper.preAllocSize=1024",
];
/** Containers and TTL nodes that are due are deleted under load, and kept for the comparison. */
const LOAD = ["-Dznode.container.checkIntervalMs=500"];
const COMPARE = ["-Dznode.container.checkIntervalMs=3600000"];
/** The same for our server. */
const SETTINGS = {
  load: ["extendedTypesEnabled=true", "znode.container.checkIntervalMs=500"],
  compare: ["extendedTypesEnabled=true", "znode.container.checkIntervalMs=3600000"],
} as const;
/** An Apache server of a round. */
interface Variant {
  /** Default: the newest one. */
  readonly version?: string;
  readonly properties?: readonly string[];
}
const VARIANTS: readonly Variant[] = [
  {},
  { properties: ["-Dzookeeper.snapshot.compression.method=gz"] },
  { version: "3.5.9" },
  { properties: ["-Dzookeeper.snapshot.compression.method=snappy"] },
  { version: "3.4.14" },
  { properties: ["-Dzookeeper.closeSessionTxn.enabled=false"] },
];
/** Before 3.6 a server notes no digest of its tree. */
const hasDigest = ({ version }: Variant): boolean => version === undefined;
/** Servers before 3.5 take containers and TTL nodes for ephemeral ones. */
const hasContainers = ({ version = "" }: Variant): boolean => !version.startsWith("3.4.");

const options = toolOptions({ rounds: VARIANTS.length, clients: 6, "load-ms": 2500, seed: newSeed(), keep: false });

const random = new Random(options.seed);
const folder = mkdtempSync(join(tmpdir(), "apache-import-"));
let failure: unknown;

console.log(`seed ${options.seed}, data in ${folder}`);
try {
  for (let round = 0; round < options.rounds; round++) await runRound(round);
} catch (error) {
  failure = error;
  console.log(error instanceof Error ? error.message : String(error));
}
if (options.keep || failure !== undefined) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(failure === undefined ? `${options.rounds} rounds passed` : "FAILED");
process.exit(failure === undefined ? 0 : 1);

async function runRound(round: number): Promise<void> {
  const variant = VARIANTS[round % VARIANTS.length] ?? {};
  // Servers of a version continue with the data of the ones before.
  const apacheFolder = join(folder, `apache-${variant.version ?? "newest"}`);
  const version2 = join(apacheFolder, "data", "version-2");
  const server = join(folder, `zooid-${round}`);
  for (const each of [apacheFolder, server]) mkdirSync(each, { recursive: true });
  const { version, properties = [] } = variant;
  const jars = fetchApacheJars(...(version === undefined ? [] : [version]));
  const apache: ServerOptions = {
    kind: "apache",
    folder: apacheFolder,
    jars,
    properties: [...PROPERTIES, ...LOAD, ...properties],
  };
  const answered = await killUnderLoad(apache, hasContainers(variant) ? ApacheLoad : RawLoad);
  const before = filesIn(version2);
  const sessions = round % 2 === 0 ? "keep" : "drop";
  const argv = [
    "import",
    "--apache",
    join(apacheFolder, "data"),
    "--data",
    join(server, "data"),
    "--sessions",
    sessions,
  ];
  const { stdout, stderr } = await run(ZOOID_SERVER, argv, folder);
  console.log((stdout + stderr).trim());
  deepStrictEqual(filesIn(version2), before, "an import changes nothing in Apache's directory");
  const state = await readApache({ dataDir: version2 }, () => {});
  const { fuzzy, snapshots } = await compareSnapshots(round, version2, state, hasDigest(variant));
  await compareServed(variant, apache, server, sessions);
  if (hasContainers(variant)) await exportAndCompare(round, jars, server);
  const { nodes, ephemeralCount } = state.tree;
  console.log(
    `round ${round + 1}, ${[version ?? "3.9.5", ...properties].join(" ")}: ${answered} requests, ` +
      `${nodes.size} nodes, ${ephemeralCount} ephemeral, all equal; ` +
      `${snapshots} snapshots, ${fuzzy} of them ahead of their zxid, come to the same tree`,
  );
}

/** @returns the number of requests that were answered */
async function killUnderLoad(of: ServerOptions, Kind: LoadKind): Promise<number> {
  await using server = new ServerProcess(of);
  await server.start();
  const load = new Kind(random, server.port);
  await load.begin();
  const running = load.run(options.clients);
  await Promise.race([running, delay(options["load-ms"])]);
  await server.kill();
  load.stop();
  await running.catch(() => {});
  return load.answered;
}

type LoadKind = new (random: Random, port: number) => Load;

/** Imports again, from some of the older snapshots in the directory. */
async function compareSnapshots(
  round: number,
  version2: string,
  newest: ApacheState,
  isDigestNoted: boolean,
): Promise<{ readonly snapshots: number; readonly fuzzy: number }> {
  const names = filesIn(version2).map(({ name }) => name);
  const all = names.filter((name) => name.startsWith("snapshot."));
  const snapshots = Array.from({ length: Math.min(SNAPSHOTS_MAX, all.length) }, () => random.pick(all));
  const logs = names.filter((name) => name.startsWith("log."));
  let fuzzy = 0;
  for (const snapshot of snapshots) {
    const from = join(folder, `from-${round}`);
    mkdirSync(from);
    linkSync(join(version2, snapshot), join(from, snapshot));
    if (isAhead(await readApache({ dataDir: from }, () => {}))) fuzzy++;
    for (const name of logs) linkSync(join(version2, name), join(from, name));
    const { tree, isDigestChecked } = await readApache({ dataDir: from }, () => {});
    const lines = differentNodes(newest.tree, tree);
    if (lines.length > 0) throw new Error(`${snapshot} comes to another tree: ${lines.join(", ")}`);
    if (isDigestChecked !== isDigestNoted)
      throw new Error(`${snapshot}: the digest of the tree was ${isDigestChecked ? "" : "not "}compared`);
    rmSync(from, { recursive: true });
  }
  return { snapshots: snapshots.length, fuzzy };
}

/** Whether a snapshot has effects of later transactions than its name says. */
function isAhead({ tree, zxid }: ApacheState): boolean {
  for (const { stat } of tree.nodes.values()) {
    for (const offset of ZXID_OFFSETS) if (stat.readBigInt64BE(offset) > zxid) return true;
  }
  return false;
}

/** The paths that are in one of the trees alone, or have another content there. */
function differentNodes(one: ApacheState["tree"], other: ApacheState["tree"]): readonly string[] {
  const paths = new Set([...one.nodes.keys(), ...other.nodes.keys()]);
  return [...paths].filter((path) => !QUOTA_STATS.test(path) && textOf(one, path) !== textOf(other, path));
}

function textOf(tree: ApacheState["tree"], path: string): string {
  const node = tree.nodes.get(path);
  return JSON.stringify([node?.data?.toString("base64"), node?.acl, node?.stat.toString("base64")]);
}

async function compareServed(
  variant: Variant,
  of: ServerOptions,
  zooidFolder: string,
  sessions: "keep" | "drop",
): Promise<void> {
  await using apache = new ServerProcess({ ...of, properties: [...(of.properties ?? []), ...COMPARE] });
  await using zooid = new ServerProcess({ kind: "zooid", folder: zooidFolder });
  await Promise.all([apache.start(), zooid.start()]);
  const [expected, found] = await Promise.all([servedTree(apache.port), servedTree(zooid.port)]);
  // It has a child more since 3.5.
  if (!hasContainers(variant)) for (const tree of [expected, found]) tree.delete("/zookeeper");
  const lines = differences(sessions === "keep" ? expected : withoutEphemerals(expected), found, ["Apache", "Zooid"]);
  if (lines.length > 0) {
    throw new Error(`${lines.length} nodes differ\n${lines.slice(0, DIFFERENCES_SHOWN).join("\n")}`);
  }
}

/** The way back: Apache serves from the export the tree that our server serves after a kill. */
async function exportAndCompare(round: number, jars: string, zooidFolder: string): Promise<void> {
  const ours: ServerOptions = { kind: "zooid", folder: zooidFolder, settings: SETTINGS.load };
  const answered = await killUnderLoad(ours, ApacheLoad);
  const back = join(folder, `back-${round}`);
  const properties = [...PROPERTIES, ...COMPARE];
  await using apache = new ServerProcess({ kind: "apache", folder: back, jars, properties });
  const argv = ["export", "--apache", apache.dataDir, "--data", join(zooidFolder, "data")];
  const { stdout, stderr } = await run(ZOOID_SERVER, argv, folder);
  console.log((stdout + stderr).trim());
  await using zooid = new ServerProcess({ kind: "zooid", folder: zooidFolder, settings: SETTINGS.compare });
  await Promise.all([apache.start(), zooid.start()]);
  const [found, expected] = await Promise.all([servedTree(apache.port), servedTree(zooid.port)]);
  const lines = differences(withoutEphemerals(expected), found, ["Zooid", "Apache"]);
  if (lines.length > 0) {
    throw new Error(`${lines.length} nodes differ on the way back\n${lines.slice(0, DIFFERENCES_SHOWN).join("\n")}`);
  }
  console.log(`round ${round + 1}, way back: ${answered} requests, ${found.size} nodes, all equal`);
}

interface ListedFile {
  readonly name: string;
  readonly size: number;
  readonly changedMs: number;
}

function filesIn(directory: string): readonly ListedFile[] {
  return readdirSync(directory)
    .sort()
    .map((name) => {
      const { mtimeMs: changedMs, size } = statSync(join(directory, name));
      return { name, size, changedMs };
    });
}
