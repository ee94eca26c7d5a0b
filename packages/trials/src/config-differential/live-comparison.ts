import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { spawnServer } from "@zooid/conformance/internal/servers/endpoint";
import type { LoggedProcess } from "@zooid/conformance/internal/servers/logged-process";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { type ConfigurationCase, writeCase } from "./configuration-case.ts";
import { readRecords } from "./records.ts";

/**
 * Recorded files that are given to both servers: single servers, members, and files that both
 * refuse.
 */
const LIVE_SEEDS: readonly number[] = [7, 12, 17, 22, 34];
const DEADLINE_MS = 60_000;
const POLL_MS = 50;
/** The state of a socket that accepts connections, in /proc/net/tcp. */
const LISTEN = "0A";
const UNDECIDED = "neither serves nor has ended";
/** Ports that the generator writes. */
const WRITTEN_PORT = /\b21\d{3}\b/g;
/** Ports of learners, where Apache's server listens only while it leads. */
const QUORUM_PORT = /^210\d0$/;
/** For the admin port, where the file names none. */
const ADMIN_PORT = "21700";
/** Paths and sizes differ. */
const OF_FILES = /dir|size|command|error/i;

type Kind = "apache" | "zooid";

/** @returns whether both servers do the same with each file */
export async function compareLive(root: string, jars: string): Promise<boolean> {
  const cases = readRecords()
    .map(({ configuration }) => configuration)
    .filter(({ seed }) => LIVE_SEEDS.includes(seed));
  const results = await Promise.all(cases.map((configuration) => compareStarts(configuration, { root, jars })));
  for (const { seed, theirs, ours } of results)
    console.log(`file ${seed}: ${theirs}${theirs === ours ? "" : `\n  but Zooid: ${ours}`}`);
  return results.every(({ theirs, ours }) => theirs === ours);
}

interface Answers {
  readonly seed: number;
  readonly theirs: string;
  readonly ours: string;
}

/**
 * Ports open one after the other, in an order of each server's own. Therefore both are looked at
 * until two successive looks find them equal, and what differs at the deadline counts.
 */
async function compareStarts(configuration: ConfigurationCase, folders: Folders): Promise<Answers> {
  const servers = await Promise.all([
    startServer("apache", configuration, folders),
    startServer("zooid", configuration, folders),
  ]);
  const deadline = Date.now() + DEADLINE_MS;
  try {
    let equalLooks = 0;
    while (true) {
      const [apache, zooid] = await Promise.all(servers.map(startOf));
      const answers = { seed: configuration.seed, ...textsOf(apache, zooid) };
      equalLooks = answers.theirs === answers.ours && answers.theirs !== undefined ? equalLooks + 1 : 0;
      if (equalLooks === 2 || Date.now() > deadline)
        return { ...answers, theirs: answers.theirs ?? UNDECIDED, ours: answers.ours ?? UNDECIDED };
      await delay(POLL_MS);
    }
  } finally {
    await Promise.all(servers.map((server) => server.process.end("SIGKILL")));
  }
}

/** The outcome of a start with a file; ports as the file has them. */
interface Start {
  readonly isRunning: boolean;
  readonly ports: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

function keysOf({ values }: Start): readonly string[] {
  return Object.keys(values).filter((key) => !OF_FILES.test(key));
}

/** The values that both tell. */
function textsOf(
  apache: Start | undefined,
  zooid: Start | undefined,
): { readonly theirs: string | undefined; readonly ours: string | undefined } {
  const common = apache && zooid ? keysOf(apache).filter((key) => keysOf(zooid).includes(key)) : [];
  return { theirs: apache && textOf(apache, common), ours: zooid && textOf(zooid, common) };
}

function textOf({ isRunning, ports, values }: Start, keys: readonly string[]): string {
  if (!isRunning) return "refused";
  const settings = keys.toSorted().map((key) => `${key}=${values[key]}`);
  return [`ports ${ports.join(" ")}`, ...settings].join(", ");
}

interface Folders {
  readonly root: string;
  readonly jars: string;
}

interface StartedServer {
  readonly process: LoggedProcess;
  readonly ports: ReadonlyMap<string, number>;
}

async function startServer(
  kind: Kind,
  configuration: ConfigurationCase,
  { root, jars }: Folders,
): Promise<StartedServer> {
  const { moved, ports } = await onFreePorts({
    ...configuration,
    flags: [...configuration.flags, `zookeeper.admin.serverPort=${ADMIN_PORT}`],
  });
  const folder = join(root, `${configuration.seed}-${kind}`);
  writeCase(moved, folder);
  const properties = moved.flags.map((flag) => `-D${flag}`);
  const process = spawnServer(kind, {
    folder,
    configFile: join(folder, "zoo.cfg"),
    jars,
    // Compiled once, and not again for speed: it runs for a second.
    properties: [...properties, "-XX:TieredStopAtLevel=1"],
    heap: "128m",
    env: { SERVER_JVMFLAGS: properties.join(" ") },
  });
  return { process, ports };
}

/** @returns undefined until the server has ended, or its admin port answers */
async function startOf(server: StartedServer): Promise<Start | undefined> {
  return server.process.isRunning ? await observe(server) : { isRunning: false, ports: [], values: {} };
}

/** @returns undefined until the admin port answers */
async function observe({ process, ports }: StartedServer): Promise<Start | undefined> {
  const listening = await listeningPortsOf(process.pid);
  const open = [...ports].filter(([written, port]) => !QUORUM_PORT.test(written) && listening.has(port));
  const values = await configurationOf(ports.get(ADMIN_PORT) ?? 0);
  if (values === undefined) return undefined;
  const named = new Map([...ports].map(([written, port]) => [port, written]));
  const asWritten = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, named.get(Number(value)) ?? value]),
  );
  return { isRunning: true, ports: open.map(([written]) => written).toSorted(), values: asWritten };
}

async function configurationOf(adminPort: number): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${adminPort}/commands/configuration`);
    const values: unknown = await answer.json();
    return typeof values === "object" && values !== null ? Object.fromEntries(Object.entries(values)) : {};
  } catch {
    return undefined;
  }
}

/**
 * The ports on which this process listens, none once it has ended. Other programs may listen on
 * ports of the file.
 */
async function listeningPortsOf(pid: number): Promise<ReadonlySet<number>> {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const links = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => "")));
  const sockets = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]));
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  // Columns: number, local address, remote address, state, queues, timer, retransmits, user,
  // timeout, inode.
  const rows = tables.flatMap((table) => table.split("\n").map((line) => line.trim().split(/\s+/)));
  const listening = rows.filter(([, , , state, , , , , , inode]) => state === LISTEN && sockets.has(inode));
  return new Set(listening.map(([, local = ""]) => Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16)));
}

/** The same case on ports that are free now. */
async function onFreePorts(
  configuration: ConfigurationCase,
): Promise<{ readonly moved: ConfigurationCase; readonly ports: ReadonlyMap<string, number> }> {
  const written = new Set(JSON.stringify(configuration).match(WRITTEN_PORT) ?? []);
  const free = await freePorts(written.size);
  const ports = new Map([...written].map((port, i) => [port, free[i] ?? 0]));
  const move = (text: string): string => text.replace(WRITTEN_PORT, (port) => String(ports.get(port) ?? port));
  return {
    moved: {
      seed: configuration.seed,
      files: Object.fromEntries(Object.entries(configuration.files).map(([name, text]) => [name, move(text)])),
      flags: configuration.flags.map(move),
    },
    ports,
  };
}
