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
import { Random } from "@zooid/conformance/internal/random";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { inspectHistory, planRestore, restoreHistory } from "@zooid/embedded-server";
import { AnsweredWrites, connectTo } from "./answered-writes.ts";

const options = toolOptions({ rounds: 20, moments: 10, writers: 4, seed: newSeed(), keep: false });
const PATHS = Array.from({ length: 12 }, (_, i) => `/n${i}`);

const random = new Random(options.seed);
const folder = mkdtempSync(join(tmpdir(), "history-rounds-"));
const settings = ["zooid.history.retainMs=86400000"];
const server = new ServerProcess({ kind: "zooid", folder: join(folder, "server"), settings });
const answered = new AnsweredWrites(random, PATHS);
const faults: string[] = [];

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
  `${options.rounds} rounds, ${answered.count} answered writes, ${options.moments} moments: ${faults.length === 0 ? "passed" : "FAILED"}`,
);
process.exit(faults.length === 0 ? 0 : 1);

async function runRound(round: number): Promise<void> {
  await server.start();
  const clients = await Promise.all(Array.from({ length: options.writers }, () => connectTo(server.port)));
  if (round === 1) for (const path of PATHS) await clients[0]?.create(path, "");
  let isOver = false;
  const load = Promise.all(clients.map((client) => answered.write(client, () => isOver)));
  await delay(random.between(20, 2500));
  const isStopped = random.chance(0.3);
  if (isStopped) await server.stop();
  else await server.kill();
  isOver = true;
  await Promise.all(clients.map((client) => client.close()));
  await load;
  console.log(`round ${round}: ${isStopped ? "stopped" : "killed"}, ${answered.count} answered writes so far`);
}

function checkFiles(): void {
  const lines: string[] = [];
  const options = { hasEntries: false, isVerified: true, hasData: false };
  for (const { message } of inspectHistory([server.dataDir], options, (line) => lines.push(line))) faults.push(message);
  faults.push(...lines.filter((line) => line.includes(" lacks the transactions ")));
  console.log(lines.at(-1));
}

async function checkMoment(moment: number): Promise<void> {
  const { zxid } = answered.pick();
  const found = await answered.check(join(folder, `moment-${moment}`), zxid, async (dataDir) => {
    const options = { command: "restore", directories: { dataDir }, member: undefined, keepsSessions: false };
    await restoreHistory(planRestore(join(server.dataDir, "archive"), { zxid }), { ...options, warn: () => {} });
  });
  faults.push(...found);
}
