/**
 * Measures what three open consoles take from a server, in pairs: the same load, once without them
 * and once with them, in turns. The server is zooid-server as operators start it, built, with the
 * console on its admin port. The load never stops, and the pairs are short and many: other load of
 * the machine changes more slowly. It asserts nothing: figures depend on the machine and its load.
 *
 *     npm run throughput -w packages/console -- [--pairs 40] [--seconds 2] [--writes 10] [--consoles requests]
 *
 * `--consoles pages` opens three pages in Chromium on this machine. The default sends what such
 * pages send, without the browser's own work: browsers mostly run on other machines than the
 * server.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { type Client, connect } from "@zooid/client";
import { chromium } from "playwright-core";

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "40" },
    seconds: { type: "string", default: "2" },
    writes: { type: "string", default: "10" },
    consoles: { type: "string", default: "requests" },
  },
});
const [pairCount = 0, seconds = 0, writeShare = 0] = [values.pairs, values.seconds, values.writes].map(Number);
const SERVER = fileURLToPath(new URL("../../../apps/server/bin/zooid-server.cjs", import.meta.url));
const CLIENTS = 4;
const IN_FLIGHT = 64;
const NODES = 1_000;
const VALUE = new Uint8Array(1024).fill(0x61);
const WARM_MS = 5_000;
/** After consoles were opened or closed. */
const SETTLE_MS = 500;
const CONSOLES = 3;
const PLACES = ["#/ensemble", "#/live", "#/tree"] as const;
interface Sample {
  readonly perSecond: number;
  /** CPU time of all threads of the server. */
  readonly cpuUsPerRequest: number;
}

interface Load {
  count: number;
  isOver: boolean;
}

const directory = mkdtempSync(join(tmpdir(), "zooid-console-throughput-"));
const ports = ["--port", "0", "--set", "admin.serverPort=0", "--data", join(directory, "data")];
const server = spawn(SERVER, ports, { cwd: directory, stdio: ["ignore", "pipe", "inherit"] });
const ended = once(server, "close");
try {
  const output = await readiness();
  const port = /serves ZooKeeper clients on [^ ]*:(\d+),/.exec(output)?.[1] ?? "";
  const url = /the console is at (http:[^"]*\/)console\//.exec(output)?.[1] ?? "";
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connect(`127.0.0.1:${port}`)));
  await fill(clients[0]);
  const load = { count: 0, isOver: false };
  const loops = clients.flatMap((client) => Array.from({ length: IN_FLIGHT }, (_, at) => loop(client, at, load)));
  await delay(WARM_MS);
  const ratios: Sample[] = [];
  for (let pair = 0; pair < pairCount; pair++) {
    const without = async (): Promise<Sample> => measure(load);
    const withConsoles = async (): Promise<Sample> => {
      await using _open = await openConsoles(url);
      return await measure(load);
    };
    const isWithFirst = pair % 2 === 1;
    const first = await (isWithFirst ? withConsoles() : without());
    const second = await (isWithFirst ? without() : withConsoles());
    const [plain, shared] = isWithFirst ? [second, first] : [first, second];
    ratios.push({
      perSecond: shared.perSecond / plain.perSecond,
      cpuUsPerRequest: shared.cpuUsPerRequest / plain.cpuUsPerRequest,
    });
    console.error(`pair ${pair + 1}: ${shown(plain)} without, ${shown(shared)} with three consoles`);
  }
  console.log(`requests a second, with three consoles to none: ${summary(ratios.map(({ perSecond }) => perSecond))}`);
  console.log(`the server's CPU time for a request: ${summary(ratios.map(({ cpuUsPerRequest }) => cpuUsPerRequest))}`);
  load.isOver = true;
  await Promise.all(loops);
  await Promise.all(clients.map((client) => client.close()));
} finally {
  server.kill("SIGTERM");
  await ended;
  rmSync(directory, { recursive: true, force: true });
}

async function readiness(): Promise<string> {
  let output = "";
  for await (const chunk of server.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (/serves ZooKeeper clients on/.test(output) && /the console is at/.test(output)) break;
  }
  server.stdout.resume();
  return output;
}

async function fill(client: Client | undefined): Promise<void> {
  await client?.create("/load");
  const all = Array.from({ length: NODES }, (_, i) => client?.create(`/load/n${i}`, VALUE));
  await Promise.all(all);
}

async function measure(load: Load): Promise<Sample> {
  await delay(SETTLE_MS);
  const [startMs, startCount, startUs] = [performance.now(), load.count, cpuUs()];
  await delay(seconds * 1000);
  const [tookMs, count, usedUs] = [performance.now() - startMs, load.count - startCount, cpuUs() - startUs];
  return { perSecond: (count / tookMs) * 1000, cpuUsPerRequest: usedUs / count };
}

/** One of the requests that are always under way. */
async function loop(client: Client, from: number, state: Load): Promise<void> {
  for (let i = from; !state.isOver; i += 7) {
    const path = `/load/n${i % NODES}`;
    if (i % 100 < writeShare) await client.set(path, VALUE);
    else await client.get(path);
    state.count++;
  }
}

/** User and system time of the server's process, from clock ticks of ten milliseconds. */
function cpuUs(): number {
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

function openConsoles(url: string): Promise<AsyncDisposable> {
  return values.consoles === "pages" ? openPages(url) : openRequests(url);
}

async function openPages(url: string): Promise<AsyncDisposable> {
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  for (const place of PLACES) {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${url}console/${place}`);
    await page.getByText("Live", { exact: true }).waitFor();
  }
  return { [Symbol.asyncDispose]: () => browser.close() };
}

/**
 * Sends the requests of the pages from a thread of its own: the load's thread is the bottleneck of
 * the load.
 */
async function openRequests(url: string): Promise<AsyncDisposable> {
  const worker = new Worker(new URL("console-requests.ts", import.meta.url), { workerData: { url, count: CONSOLES } });
  await once(worker, "online");
  return {
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}

function shown({ perSecond, cpuUsPerRequest }: Sample): string {
  return `${Math.round(perSecond)} a second at ${cpuUsPerRequest.toFixed(1)} µs`;
}

function summary(ratios: readonly number[]): string {
  const sorted = ratios.toSorted((a, b) => a - b);
  const at = (part: number): string => (sorted[Math.round(part * (sorted.length - 1))] ?? Number.NaN).toFixed(3);
  return `median ${at(0.5)}, quartiles ${at(0.25)} and ${at(0.75)}, from ${at(0)} to ${at(1)}, in ${sorted.length} pairs`;
}
