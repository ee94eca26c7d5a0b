/**
 * Kills a server that keeps its history again and again under load, and compares the history with
 * clients' answers.
 *
 *     npm run tool -- history-rounds [--rounds 20] [--moments 10] [--writers 4] [--seed N] [--keep]
 *
 * In each round a few writers set nodes until `kill -9` comes, in some rounds SIGTERM, at a random
 * moment. Afterwards every file of the history must be whole, and no transaction may be missing
 * between the first and the last. Then states of the past are restored, at zxids that were
 * answered, and a server serves each: every node must have the value of its last answered write up
 * to there, or of one without an answer behind it, with the same zxid and version.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { TrialRun } from "../processes/trial-run.ts";
import { AnsweredWrites, connectTo } from "./answered-writes.ts";
import { inspectArchive, restoreArchive } from "./restore-archive.ts";

const options = toolOptions({ rounds: 20, moments: 10, writers: 4, seed: newSeed(), keep: false });
const PATHS = Array.from({ length: 12 }, (_, i) => `/n${i}`);

const trial = new TrialRun("history-rounds", options);
const { random, folder, faults } = trial;
const settings = ["zooid.history.retainMs=86400000"];
const server = new ServerProcess({ kind: "zooid", folder: join(folder, "server"), settings });
const answered = new AnsweredWrites(random, PATHS);

await trial.play("data in ", async () => {
  await using _ = { [Symbol.asyncDispose]: () => server.kill() };
  for (let round = 1; round <= options.rounds; round++) await runRound(round);
  await server.start();
  await server.stop();
  checkFiles();
  for (let moment = 1; moment <= options.moments && faults.length === 0; moment++) await checkMoment(moment);
});
trial.end(`${options.rounds} rounds, ${answered.count} answered writes, ${options.moments} moments`);

async function runRound(round: number): Promise<void> {
  await server.start();
  if (round === 1) {
    await using client = await connectTo(server.port);
    for (const path of PATHS) await client.create(path, "");
  }
  const load = await answered.load(options.writers, () => connectTo(server.port));
  await delay(random.between(20, 2500));
  const isStopped = random.chance(0.3);
  if (isStopped) await server.stop();
  else await server.kill();
  await load.end();
  console.log(`round ${round}: ${isStopped ? "stopped" : "killed"}, ${answered.count} answered writes so far`);
}

function checkFiles(): void {
  const { damages, gaps, summary } = inspectArchive(server.dataDir);
  faults.push(...damages, ...gaps);
  console.log(summary);
}

async function checkMoment(moment: number): Promise<void> {
  const { zxid } = answered.pick();
  const archive = join(server.dataDir, "archive");
  const restore = (dataDir: string): Promise<void> => restoreArchive(archive, zxid, dataDir);
  const found = await answered.check(join(folder, `moment-${moment}`), zxid, restore);
  faults.push(...found);
}
