/**
 * States of the past of an ensemble whose leaders are killed and whose clocks are set, compared
 * with clients' answers: by their zxids and by their times.
 *
 *     npm run tool -- history-moments [--rounds 12] [--zxids 10] [--times 10] [--writers 4]
 *       [--seed N] [--keep]
 *
 * In each round a few writers set nodes, the clock of a server is set, forward or back, by up to an
 * hour, and in most rounds the leader is killed or all servers are. Afterwards the archive of each
 * server must be whole. States are restored from them at random: a server must serve what was
 * answered up to there, and the living servers must answer the same for that zxid. A time means the
 * last transaction before the first one that was stamped later; where that is not the only moment,
 * it must be refused with the first and the last one.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@zooid/client";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { OfflineError, planRestore } from "@zooid/embedded-server";
import type { Zxid } from "@zooid/model";
import { Ensemble, type EnsembleServer, until } from "../faults/ensemble-servers.ts";
import { TrialRun } from "../processes/trial-run.ts";
import { AnsweredWrites } from "./answered-writes.ts";
import { inspectArchive, restoreArchive } from "./restore-archive.ts";

const options = toolOptions({ rounds: 12, zxids: 10, times: 10, writers: 4, seed: newSeed(), keep: false });
const PATHS = Array.from({ length: 12 }, (_, i) => `/n${i}`);
const CLOCK_MS_MAX = 3_600_000;
const DEADLINE_MS = 60_000;
const SESSION_MS = 40_000;
const PAUSE_MS_MAX = 4;

const trial = new TrialRun("history-moments", options);
const { random, folder, faults } = trial;
const ensemble = await Ensemble.create({
  folder,
  serverCount: 3,
  tickMs: 2000,
  syncLimit: 5,
  settings: ["zooid.history.retainMs=86400000", "zooid.history.fileMs=200"],
  env: { NODE_OPTIONS: `--import=${join(import.meta.dirname, "set-clock.ts")}` },
});
const hosts = ensemble.servers.map(({ address }) => address).join(",");
const answered = new AnsweredWrites(random, PATHS);
/** Times that meant two moments. */
let doubleCount = 0;

await trial.play("in ", async () => {
  await using _ = ensemble;
  faults.push(...(await play()));
});
trial.end(
  `${options.rounds} rounds, ${answered.count} answered writes, ${options.zxids} zxids, ` +
    `${options.times} times (${doubleCount} of two moments)`,
);

async function play(): Promise<readonly string[]> {
  await ensemble.start(DEADLINE_MS);
  await using maker = await connect(hosts, { sessionTimeoutMs: SESSION_MS });
  for (const path of PATHS) await maker.create(path, "");
  for (let round = 1; round <= options.rounds; round++) await runRound(round);
  for (const server of ensemble.servers) await untilArchived(server);
  const found = ensemble.servers.flatMap(({ dataDir }) => {
    const { damages, gaps } = inspectArchive(dataDir);
    return [...damages, ...gaps];
  });
  for (let i = 0; i < options.zxids && found.length === 0; i++) {
    const zxid = answered.pick().zxid;
    found.push(...(await checkState(`zxid-${i}`, zxid)), ...(await checkReads(zxid)));
  }
  for (let i = 0; i < options.times && found.length === 0; i++) found.push(...(await checkTime(i)));
  return found;
}

async function runRound(round: number): Promise<void> {
  const load = await answered.load(
    options.writers,
    () => connect(hosts, { sessionTimeoutMs: SESSION_MS }),
    () => delay(random.between(0, PAUSE_MS_MAX)),
  );
  await delay(random.between(200, 800));
  const set = random.pick(ensemble.servers);
  const offsetMs = random.between(-CLOCK_MS_MAX, CLOCK_MS_MAX);
  writeFileSync(join(set.folder, "clock"), String(offsetMs));
  await delay(random.between(0, 400));
  const what = random.pick(["leader killed", "leader killed", "all killed", "clock alone"] as const);
  const killed =
    what === "all killed"
      ? ensemble.servers
      : what === "leader killed"
        ? [await ensemble.untilLeader(ensemble.servers, DEADLINE_MS)]
        : [];
  for (const server of killed) await server.kill();
  await delay(random.between(0, 500));
  for (const server of killed) server.launch();
  const leader = await ensemble.untilLevel(DEADLINE_MS);
  await delay(random.between(50, 300));
  await load.end();
  const clock = `the clock of server ${set.sid} set to ${(offsetMs / 1000).toFixed(0)} s`;
  console.log(
    `round ${round}: ${clock}, ${what}, server ${leader.sid} leads; ${answered.count} answered writes so far`,
  );
}

/** Waits until every answered write is in a file. */
async function untilArchived(server: EnsembleServer): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    try {
      return planRestore(archiveOf(server)).zxid >= answered.lastZxid;
    } catch (error) {
      if (error instanceof OfflineError) return false;
      throw error;
    }
  };
  await until(`the history of server ${server.sid}`, DEADLINE_MS, isThere);
}

function archiveOf(server: EnsembleServer): string {
  return join(server.dataDir, "archive");
}

/** Restores a state out of the archive of some server, and has it served. */
async function checkState(name: string, zxid: Zxid): Promise<readonly string[]> {
  const archive = archiveOf(random.pick(ensemble.servers));
  return await answered.check(join(folder, name), zxid, (dataDir) => restoreArchive(archive, zxid, dataDir));
}

/** The answers of a living server for that zxid. */
async function checkReads(zxid: Zxid): Promise<readonly string[]> {
  const server = random.pick(ensemble.servers);
  await using client = await connect(server.address, { sessionTimeoutMs: SESSION_MS });
  const found = answered.checkNodes(zxid, async (path) => {
    const { data, mzxid } = await client.get(path, { at: zxid });
    return { value: Buffer.from(data ?? []).toString(), zxid: mzxid };
  });
  return (await found).map((fault) => `server ${server.sid}, asked: ${fault}`);
}

async function checkTime(i: number): Promise<readonly string[]> {
  const timeMs = answered.pick().timeMs + random.between(-2, 2);
  const archive = archiveOf(random.pick(ensemble.servers));
  const name = `the time ${new Date(timeMs).toISOString()}`;
  let zxids: readonly Zxid[];
  try {
    zxids = [planRestore(archive, { timeMs }).zxid];
  } catch (error) {
    if (!(error instanceof OfflineError)) throw error;
    zxids = [...error.message.matchAll(/--to 0x([0-9a-f]+)/g)].map(
      ([, text = ""]) => Number.parseInt(text, 16) as Zxid,
    );
    if (zxids.length !== 2) return [`${name} is refused: ${error.message}`];
    doubleCount++;
  }
  const [first = 0 as Zxid, last = first] = zxids;
  const found = answered.checkTime(timeMs, { first, last }).map((fault) => `${name}: ${fault}`);
  return found.length > 0 ? found : await checkState(`time-${i}`, random.pick(zxids));
}
