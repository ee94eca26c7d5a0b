/**
 * Kills a server that keeps its history again and again under load, and compares the history with
 * what clients were told.
 *
 *     npm run tool -- history-rounds [--rounds 20] [--moments 10] [--writers 4] [--seed N] [--keep]
 *
 * In each round a few writers set nodes until `kill -9` comes, in some rounds SIGTERM, at a random
 * moment. Afterwards every file of the history must be whole, and no transaction may be missing
 * between the first and the last. Then states of the past are restored, at zxids that were
 * answered, and a server serves each: every node must have the value of its last answered write up
 * to there, or of one without an answer behind it, with the same zxid and version.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, connect, ZkError } from "@zooid/client";
import { Random } from "@zooid/conformance/internal/random";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { inspectHistory, planRestore, restoreHistory } from "@zooid/embedded-server";
import { formatZxid, type Zxid } from "@zooid/model";

const options = toolOptions({ rounds: 20, moments: 10, writers: 4, seed: newSeed(), keep: false });
const PATHS = Array.from({ length: 12 }, (_, i) => `/n${i}`);
const SESSION_MS = 20_000;

interface Answered {
  readonly zxid: Zxid;
  readonly path: string;
  readonly value: string;
  readonly version: number;
}

const random = new Random(options.seed);
const folder = mkdtempSync(join(tmpdir(), "history-rounds-"));
const settings = ["zooid.history.retainMs=86400000"];
const server = new ServerProcess({ kind: "zooid", folder: join(folder, "server"), settings });
const answered: Answered[] = [];
const faults: string[] = [];
let number = 0;

console.log(`seed ${options.seed}, data in ${server.dataDir}`);
try {
  for (let round = 1; round <= options.rounds; round++) await runRound(round);
  await server.start();
  await server.stop();
  checkFiles();
  for (let moment = 1; moment <= options.moments && faults.length === 0; moment++) await checkMoment(moment);
} finally {
  await server.kill();
}
for (const fault of faults) console.log(fault);
if (options.keep || faults.length > 0) console.log(`data and logs are kept in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
console.log(
  `${options.rounds} rounds, ${answered.length} answered writes, ${options.moments} moments: ${faults.length === 0 ? "passed" : "FAILED"}`,
);
process.exit(faults.length === 0 ? 0 : 1);

async function runRound(round: number): Promise<void> {
  await server.start();
  const clients = await Promise.all(Array.from({ length: options.writers }, () => connectTo(server.port)));
  if (round === 1) for (const path of PATHS) await clients[0]?.create(path, "");
  let isOver = false;
  const load = Promise.all(clients.map((client) => write(client, () => isOver)));
  await delay(random.between(20, 2500));
  const isStopped = random.chance(0.3);
  if (isStopped) await server.stop();
  else await server.kill();
  isOver = true;
  await Promise.all(clients.map((client) => client.close()));
  await load;
  console.log(`round ${round}: ${isStopped ? "stopped" : "killed"}, ${answered.length} answered writes so far`);
}

async function connectTo(port: number): Promise<Client> {
  return await connect(`127.0.0.1:${port}`, { sessionTimeoutMs: SESSION_MS });
}

async function write(client: Client, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const path = random.pick(PATHS);
    const value = String(++number);
    try {
      const { mzxid, version } = await client.set(path, value);
      answered.push({ zxid: Number(mzxid) as Zxid, path, value, version });
    } catch (error) {
      if (!(error instanceof ZkError)) throw error;
    }
  }
}

function checkFiles(): void {
  const lines: string[] = [];
  const options = { hasEntries: false, isVerified: true, hasData: false };
  for (const { message } of inspectHistory([server.dataDir], options, (line) => lines.push(line))) faults.push(message);
  faults.push(...lines.filter((line) => line.includes(" lacks the transactions ")));
  console.log(lines.at(-1));
}

/** Restores the state at an answered write, and reads it from a server. */
async function checkMoment(moment: number): Promise<void> {
  const { zxid } = random.pick(answered);
  const place = join(folder, `moment-${moment}`);
  const restored = new ServerProcess({ kind: "zooid", folder: place });
  rmSync(restored.dataDir, { recursive: true });
  const plan = planRestore(join(server.dataDir, "archive"), { zxid });
  const directories = { dataDir: restored.dataDir };
  await restoreHistory(plan, {
    directories,
    command: "restore",
    member: undefined,
    keepsSessions: false,
    warn: () => {},
  });
  await restored.start();
  const client = await connectTo(restored.port);
  for (const path of PATHS) {
    const { data, stat } = await client.get(path);
    const found = { value: Buffer.from(data ?? []).toString(), zxid: Number(stat.mzxid), version: stat.version };
    const last = answered
      .filter((each) => each.path === path && each.zxid <= zxid)
      .sort((a, b) => a.zxid - b.zxid)
      .at(-1);
    const isAnswered = found.value === (last?.value ?? "") && (last === undefined || found.zxid === last.zxid);
    const isUnanswered =
      found.zxid <= zxid && found.zxid > (last?.zxid ?? 0) && !answered.some(({ value }) => value === found.value);
    if (isAnswered || isUnanswered) continue;
    faults.push(`at ${formatZxid(zxid)} ${path} is ${JSON.stringify(found)}, and was ${JSON.stringify(last)}`);
  }
  await client.close();
  await restored.stop();
  if (faults.length === 0) rmSync(place, { recursive: true, force: true });
}
