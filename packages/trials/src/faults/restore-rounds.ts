/**
 * Restores states of the past in an ensemble that runs and is written to, and kills its servers
 * meanwhile.
 *
 *     npm run tool -- restore-rounds [--rounds 20] [--writers 16] [--seed N] [--keep]
 *
 * In each round clients write all the time, one follower may be away, and the leader is asked for
 * the state at some answered write that its backup has, of a history that an earlier restore has
 * discarded, too. A server may be killed at a random moment of that, the leader more often than
 * others. Then all servers run again, and all of them must have the same nodes: those of the
 * history that was continued, with every answered write, or those of the state, with every write
 * that was answered behind it. Where the leader said how the restore ended, it must be that one.
 */
import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Client, connect, ZkError } from "@zooid/client";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { composeZxid, epochOf, formatZxid, parseZxid, type Zxid } from "@zooid/model";
import { freePort } from "@zooid/wire/testing/free-ports";
import { TrialRun } from "../processes/trial-run.ts";
import { Ensemble, type EnsembleServer, until } from "./ensemble-servers.ts";
import { type AnsweredWrite, RestoredHistories } from "./restored-histories.ts";

const options = toolOptions({ rounds: 20, writers: 16, seed: newSeed(), keep: false });
const PATHS = Array.from({ length: 24 }, (_, i) => `/n${i}`);
const DEADLINE_MS = 120_000;
const SESSION_MS = 6000;
const AUTH = { authorization: "digest super:test" };

// The servers are killed: clients without a connection are as it should be.
process.removeAllListeners("warning");

const trial = new TrialRun("restore-rounds", options);
const { random, folder, faults } = trial;
const target = join(folder, "backup");
mkdirSync(target);
const adminPort = await freePort();
await using ensemble = await Ensemble.create({
  folder,
  serverCount: 3,
  tickMs: 1000,
  syncLimit: 10,
  settings: [
    "zooid.history.retainMs=86400000",
    "zooid.history.fileMs=200",
    `zooid.backup.target=${target}`,
    "zooid.backup.baseEveryMs=60000",
    "admin.enableServer=true",
    `admin.serverPort=${adminPort}`,
    "DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
  ],
});
for (const server of ensemble.servers) {
  appendFileSync(join(server.folder, "zoo.cfg"), `\nadmin.serverAddress=${server.host}\n`);
}
const histories = new RestoredHistories();
const hosts = ensemble.servers.map(({ address }) => address).join();
let restoredCount = 0;
let killCount = 0;
let number = 0;
let isOver = false;

await trial.play("data in ", async () => {
  await ensemble.start(DEADLINE_MS);
  {
    await using client = await connect(hosts, { sessionTimeoutMs: SESSION_MS });
    for (const path of PATHS) await client.create(path, "");
  }
  for (let round = 1; round <= options.rounds && faults.length === 0; round++) await runRound(round);
});
for (const server of ensemble.servers) await server.kill();
trial.end(
  `${options.rounds} rounds, ${histories.count} answered writes, ${restoredCount} states restored, ${killCount} kills`,
);

async function runRound(round: number): Promise<void> {
  isOver = false;
  const load = Promise.all(Array.from({ length: options.writers }, () => write()));
  const leader = await ensemble.untilLeader(ensemble.servers, DEADLINE_MS);
  const moment = await until("a write in the backup", DEADLINE_MS, async () => {
    const end = await backupEnd(leader);
    return histories.pick(random, end);
  });
  const away = random.chance(0.4) ? random.pick(ensemble.servers.filter((server) => server !== leader)) : undefined;
  await away?.kill();
  histories.settle();
  const asked = await ask(leader, `restore_state?to=${formatZxid(moment.zxid)}`, "POST");
  if (asked?.["error"] !== null) throw new Error(`round ${round}: ${JSON.stringify(asked)}`);
  const victim = random.chance(0.5) ? killedMeanwhile(leader) : undefined;
  const ended = await untilEnded(leader);
  await victim;
  for (const server of ensemble.servers) if (!server.isRunning) server.launch();
  await ensemble.untilLevel(DEADLINE_MS);
  await delay(random.between(0, 1000));
  isOver = true;
  await load;
  const restoredAt = await check(moment, ended);
  if (restoredAt !== undefined) restoredCount++;
  const outcome = restoredAt === undefined ? "nothing restored" : `restored at ${formatZxid(restoredAt)}`;
  const who = away === undefined ? "" : `, server ${away.sid} away`;
  console.log(`round ${round}: ${formatZxid(moment.zxid)}${who}; said ${ended}; ${outcome}; ${histories.count} writes`);
}

/** Sets random nodes to values that never repeat, by one session after another. */
async function write(): Promise<void> {
  let client: Client | undefined;
  while (!isOver) {
    const path = random.pick(PATHS);
    const value = String(++number);
    try {
      client ??= await connect(hosts, { sessionTimeoutMs: SESSION_MS });
      const { mzxid } = await client.set(path, value);
      histories.add({ zxid: Number(mzxid) as Zxid, path, value });
    } catch (error) {
      if (!(error instanceof ZkError) && !(error instanceof Error)) throw error;
      await client?.close().catch(() => {});
      client = undefined;
      await delay(50);
    }
  }
  await client?.close().catch(() => {});
}

/** A server is killed at a random moment, and starts again. */
async function killedMeanwhile(leader: EnsembleServer): Promise<void> {
  const server = random.chance(0.6) ? leader : random.pick(ensemble.servers);
  await delay(random.between(0, 2500));
  if (!server.isRunning) return;
  killCount++;
  await server.kill();
  await delay(random.between(0, 1500));
  server.launch();
}

/** The leader's report of the end; "nothing" where it was killed. */
async function untilEnded(leader: EnsembleServer): Promise<string> {
  return await until("the end of the restore", DEADLINE_MS, async () => {
    const status = await ask(leader, "restore_state_status", "GET").catch(() => undefined);
    if (status?.["phase"] === "restored") return String(status["restored_at"]);
    if (status?.["phase"] === "failed") return String(status["problem"]);
    return status === undefined || status["phase"] === "none" ? "nothing" : false;
  });
}

async function ask(
  server: EnsembleServer,
  command: string,
  method: "GET" | "POST",
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const response = await fetch(`http://${server.host}:${adminPort}/commands/${command}`, { method, headers: AUTH });
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

async function backupEnd(leader: EnsembleServer): Promise<Zxid> {
  const end = (await ask(leader, "backup_status", "GET").catch(() => undefined))?.["last_zxid"];
  return typeof end === "string" ? parseZxid(end) : (0 as Zxid);
}

/** @returns where the state stands; undefined where the history was continued without it */
async function check(moment: AnsweredWrite, ended: string): Promise<Zxid | undefined> {
  const trees: (readonly AnsweredWrite[])[] = [];
  let newest = 0 as Zxid;
  for (const server of ensemble.servers) {
    await using client = await connect(server.address, { sessionTimeoutMs: SESSION_MS });
    await client.sync("/");
    const nodes: AnsweredWrite[] = [];
    for (const path of PATHS) {
      const { data, stat } = await client.get(path);
      nodes.push({ path, value: Buffer.from(data ?? []).toString(), zxid: Number(stat.mzxid) as Zxid });
    }
    trees.push(nodes);
    newest = Number((await client.set("/", "")).mzxid) as Zxid;
  }
  const [tree = []] = trees;
  if (trees.some((other) => JSON.stringify(other) !== JSON.stringify(tree))) {
    faults.push(`the servers have different nodes: ${JSON.stringify(trees)}`);
    return undefined;
  }
  const unchanged = histories.faultsOf(tree);
  const said = /^0x/.test(ended) ? parseZxid(ended) : undefined;
  if (said === undefined && unchanged.length === 0) return undefined;
  // The epoch in which the state stands has no transaction.
  const places = said === undefined ? placesUpTo(newest) : [said];
  for (const at of places) {
    if (histories.restored(moment, at).faultsOf(tree).length > 0) continue;
    histories.restore(moment, at);
    return at;
  }
  const restored = places.map((at) => histories.restored(moment, at).faultsOf(tree).join("; "));
  faults.push(
    `neither history is continued: ${unchanged.join("; ")}\nnor the state of ${formatZxid(moment.zxid)}: ${restored.join("\n")}`,
  );
  return undefined;
}

function placesUpTo(newest: Zxid): readonly Zxid[] {
  const places: Zxid[] = [];
  for (let epoch = 1; epoch < epochOf(newest); epoch++) places.push(composeZxid(epoch, 1));
  return places.toReversed();
}
