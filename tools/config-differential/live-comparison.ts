import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { hasEnded, spawnServer } from "../../packages/conformance/src/endpoint.ts";
import { freePorts } from "../../packages/wire/src/testing/free-ports.ts";
import { type ConfigurationCase, writeCase } from "./configuration-case.ts";
import { readRecords } from "./records.ts";

/** Recorded files that are given to both servers: single servers, members, and files that both refuse. */
const LIVE_SEEDS: readonly number[] = [7, 12, 17, 22, 34];
const DEADLINE_MS = 60_000;
const POLL_MS = 50;
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
  let isSame = true;
  const starts = cases.map(async (configuration) => {
    const [apache, zooid] = await Promise.all([
      startOf("apache", configuration, { root, jars }),
      startOf("zooid", configuration, { root, jars }),
    ]);
    return { configuration, apache, zooid };
  });
  for (const { configuration, apache, zooid } of await Promise.all(starts)) {
    const common = keysOf(apache).filter((key) => keysOf(zooid).includes(key));
    const [theirs, ours] = [textOf(apache, common), textOf(zooid, common)];
    console.log(`file ${configuration.seed}: ${theirs}${theirs === ours ? "" : `\n  but Zooid: ${ours}`}`);
    isSame &&= theirs === ours;
  }
  return isSame;
}

/** What a start with a file comes to; ports as the file has them. */
interface Start {
  readonly isRunning: boolean;
  readonly ports: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

function keysOf({ values }: Start): readonly string[] {
  return Object.keys(values).filter((key) => !OF_FILES.test(key));
}

function textOf({ isRunning, ports, values }: Start, keys: readonly string[]): string {
  if (!isRunning) return "refused";
  const settings = keys.toSorted().map((key) => `${key}=${values[key]}`);
  return [`ports ${ports.join(" ")}`, ...settings].join(", ");
}

async function startOf(
  kind: Kind,
  configuration: ConfigurationCase,
  { root, jars }: { readonly root: string; readonly jars: string },
): Promise<Start> {
  const { moved, ports } = await onFreePorts({
    ...configuration,
    flags: [...configuration.flags, `zookeeper.admin.serverPort=${ADMIN_PORT}`],
  });
  const folder = join(root, `${configuration.seed}-${kind}`);
  writeCase(moved, folder);
  const properties = moved.flags.map((flag) => `-D${flag}`);
  const child = spawnServer(kind, {
    ...{ folder, configFile: join(folder, "zoo.cfg"), jars },
    // Compiled once, and not again for speed: it runs for a second.
    properties: [...properties, "-XX:TieredStopAtLevel=1"],
    heap: "128m",
    env: { SERVER_JVMFLAGS: properties.join(" ") },
  });
  const ended = once(child, "exit");
  const deadline = Date.now() + DEADLINE_MS;
  try {
    let known: Start | undefined;
    while (!hasEnded(child)) {
      if (Date.now() > deadline) throw new Error(`${kind} neither serves nor ends with file ${configuration.seed}`);
      const found = await observe(ports);
      // Ports open one after the other: what two looks have in common is what stays.
      if (found !== undefined && known?.ports.length === found.ports.length && known.ports.length > 1) return found;
      known = found;
      await delay(POLL_MS);
    }
    return { isRunning: false, ports: [], values: {} };
  } finally {
    child.kill("SIGKILL");
    if (!hasEnded(child)) await ended;
  }
}

/** @returns undefined until the admin port answers */
async function observe(ports: ReadonlyMap<string, number>): Promise<Start | undefined> {
  const open = await Promise.all(
    [...ports]
      .filter(([written]) => !QUORUM_PORT.test(written))
      .map(async ([written, port]) => ((await isOpen(port)) ? written : undefined)),
  );
  const values = await configurationOf(ports.get(ADMIN_PORT) ?? 0);
  if (values === undefined) return undefined;
  const named = new Map([...ports].map(([written, port]) => [port, written]));
  const asWritten = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, named.get(Number(value)) ?? value]),
  );
  return { isRunning: true, ports: open.filter((port) => port !== undefined).toSorted(), values: asWritten };
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

async function isOpen(port: number): Promise<boolean> {
  const socket = connect({ port, host: "127.0.0.1" });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
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
