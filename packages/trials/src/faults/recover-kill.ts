/**
 * Kills `zooid-server recover` and cuts its power at many moments. Whatever is left must be the
 * member of the old ensemble, whole, or the new ensemble, whole: with the same tree, sessions
 * included. An old history is then recovered again.
 *
 *     npm run tool -- recover-kill [--moments 100] [--nodes 2000] [--seed N] [--keep]
 *
 * Half of the moments are kills of a process at a random time. The others are the disk as a power
 * cut would have left it, from one recorded run: when a file changes or is synced. The survivor is
 * a follower of three that were killed under writes, without its last transactions committed, so
 * far as it knows.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@zooid/client";
import { Random } from "@zooid/conformance/internal/random";
import { ROOT, ZOOID_SERVER } from "@zooid/conformance/internal/servers/endpoint";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { readSurvivor, recoverMember } from "@zooid/embedded-server";
import { wholeTree } from "@zooid/embedded-server/internal/offline/recover-member";
import { type Member, parseMembers } from "@zooid/model";
import { openStore } from "@zooid/txn-log/sqlite";
import { decodeMembers } from "@zooid/zab";
import { Ensemble } from "./ensemble-servers.ts";
import { DiskHistory } from "./power-cut/disk-history.ts";
import { recordingEnvironment } from "./power-cut/recording-shim.ts";

const options = toolOptions({ moments: 100, nodes: 2000, seed: newSeed(), keep: false });
const DEADLINE_MS = 60_000;
const SYNC_DELAY_US = 1_000;
const IN_FLIGHT = 32;
/**
 * When processes are killed, in parts of how long a recorded one takes. Node.js starts before it
 * touches anything.
 */
const KILLS_FROM = 0.25;
const KILLS_TO = 1.5;
/** Where the survivor is to be. It is not started. */
const LINE = "7=127.0.0.1:2888:3888;2181";
/** The standing that the new ensemble's log has beside its entries. */
const STANDING = `member ${LINE.split("=")[0]} alone, all committed, its epoch held, 1 branch`;

const random = new Random(options.seed);
const folder = mkdtempSync(join(tmpdir(), "recover-kill-"));
const [member] = parseMembers(`server.${LINE}`).servers;
const counts = { old: 0, new: 0, failed: 0 };

console.log(`seed ${options.seed}, data in ${folder}`);
try {
  if (member !== undefined) await runMoments(member);
} finally {
  if (options.keep || counts.failed > 0) console.log(`kept in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
console.log(`${counts.old} old, ${counts.new} new, ${counts.failed} failed`);
if (counts.failed > 0 || counts.old === 0 || counts.new === 0) process.exitCode = 1;

/** The content of a data directory, to be compared. */
interface Content {
  readonly ensembleId: string;
  readonly sid: number;
  readonly zxid: number;
  readonly tree: string;
  /** The other facts of the new ensemble's log. */
  readonly standing: string;
}

async function runMoments(as: Member): Promise<void> {
  const origin = await makeSurvivor();
  const before = await contentOf(copyOf(origin, "before"));
  const { moments, history, tookMs } = await record(origin, before.ensembleId);
  const { moments: count } = options;
  for (let index = 1; index <= count; index++) {
    const place = join(folder, `moment${index}`);
    const round = Math.floor((index - 1) / 2);
    const roundCount = Math.ceil(count / 2);
    // From the beginning to the end, each in its part of the time.
    const share = (round + random.next()) / roundCount;
    let how: string;
    if (index % 2 === 0) {
      // The transaction that counts comes late: every other one there, the last of them too.
      const chosen = (roundCount - round) % 2 === 0 ? moments : moments.slice(-Math.ceil(moments.length / 4));
      const moment = chosen[Math.floor(share * chosen.length)] ?? history.ended;
      mkdirSync(place);
      const { description } = history.restore(place, { moment, random });
      how = `power cut (${description})`;
    } else {
      cpSync(origin, place, { recursive: true });
      how = await killAfter(
        Math.round(tookMs * (KILLS_FROM + share * (KILLS_TO - KILLS_FROM))),
        place,
        before.ensembleId,
      );
    }
    try {
      await check(place, before, as);
      rmSync(place, { recursive: true });
    } catch (error) {
      counts.failed++;
      console.log(`moment ${index}, ${how} FAILED: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** The data directory of a follower whose ensemble was killed under writes. */
async function makeSurvivor(): Promise<string> {
  await using ensemble = await Ensemble.create({
    folder: join(folder, "ensemble"),
    serverCount: 3,
    tickMs: 500,
    syncLimit: 10,
    settings: ["reconfigEnabled=true", "skipACL=yes", "standaloneEnabled=false"],
  });
  await ensemble.start(DEADLINE_MS);
  const { servers } = ensemble;
  const client = await connect(servers.map(({ address }) => address).join());
  const { nodes: count } = options;
  let next = 0;
  const write = async (): Promise<void> => {
    while (next < count) await client.create(`/node-${next++}`, randomBytes(random.between(0, 4000)));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, write));
  // More are in transit when all die.
  const last = Array.from({ length: IN_FLIGHT }, (_, i) => client.create(`/last-${i}`, "x", { mode: "ephemeral" }));
  const ended = Promise.allSettled(last);
  await delay(random.between(0, 5));
  const leader = await ensemble.leader();
  await Promise.all(servers.map((server) => server.kill()));
  const closing = client.close();
  await ended;
  await Promise.allSettled([closing]);
  const survivor = servers.find((server) => server !== leader);
  if (survivor === undefined) throw new Error("three servers have a follower");
  return survivor.dataDir;
}

function copyOf(from: string, name: string): string {
  const place = join(folder, name);
  cpSync(from, place, { recursive: true });
  return place;
}

interface Recorded {
  readonly history: DiskHistory;
  /** Where a file of the recovery changed or was synced. */
  readonly moments: readonly bigint[];
  readonly tookMs: number;
}

/** One run that is not disturbed, with all that it does to its files. */
async function record(origin: string, id: string): Promise<Recorded> {
  const root = join(folder, "recorded");
  const log = join(folder, "record");
  mkdirSync(root);
  const env = { ...process.env, ...recordingEnvironment({ root, log, syncDelayUs: SYNC_DELAY_US }) };
  const copy = join(import.meta.dirname, "power-cut/copy-synced.ts");
  await must(spawn(process.execPath, [copy, origin, root], { env, stdio: "inherit" }));
  // The clock of the record.
  const began = process.hrtime.bigint();
  await must(spawn(ZOOID_SERVER, recoverArguments(root, id), { env, stdio: ["ignore", "ignore", "inherit"] }));
  const tookMs = Number((process.hrtime.bigint() - began) / 1_000_000n);
  const history = new DiskHistory(log, root);
  return { history, tookMs, moments: history.moments().filter((moment) => moment > began) };
}

function recoverArguments(dataDir: string, id: string): readonly string[] {
  return ["recover", "--data", dataDir, "--as-member", LINE, "--confirm", id];
}

async function must(child: ChildProcess): Promise<void> {
  const [status] = (await once(child, "exit")) as [number | null];
  if (status !== 0) throw new Error(`${child.spawnargs.join(" ")} ended with ${status}`);
}

async function killAfter(ms: number, dataDir: string, id: string): Promise<string> {
  const child = spawn(ZOOID_SERVER, recoverArguments(dataDir, id), { cwd: ROOT, stdio: "ignore" });
  const ended = once(child, "exit");
  await Promise.race([delay(ms), ended]);
  child.kill("SIGKILL");
  await ended;
  return `killed after ${ms} ms`;
}

async function check(dataDir: string, before: Content, as: Member): Promise<void> {
  const found = readSurvivor({ dataDir });
  if (found.damage !== undefined) throw new Error(found.damage);
  const isOld = found.ensembleId === before.ensembleId;
  if (isOld) await recoverMember(found, { member: as, takesDamaged: false, warn: () => {} });
  const after = await contentOf(dataDir);
  if (after.ensembleId === before.ensembleId) throw new Error("it is the old ensemble still");
  const expected = { sid: as.sid, zxid: before.zxid, tree: before.tree };
  const { sid, zxid, tree } = after;
  if (after.standing !== STANDING) throw new Error(`found ${after.standing}, expected ${STANDING}`);
  if (JSON.stringify({ sid, zxid, tree }) !== JSON.stringify(expected))
    throw new Error(`found ${JSON.stringify(after)}, expected ${JSON.stringify(expected)}`);
  counts[isOld ? "old" : "new"]++;
}

/** Loads all of it, as a start does. */
async function contentOf(dataDir: string): Promise<Content> {
  const { sid, ensembleId } = readSurvivor({ dataDir });
  const failures: Error[] = [];
  const handler = {
    appended: () => {},
    roomChanged: () => {},
    failed: (error: Error) => void failures.push(error),
    warned: (text: string) => void failures.push(new Error(text)),
  };
  await using store = await openStore({ directory: dataDir, sid, handler });
  const tree = wholeTree(store, { dataDir });
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  const { applied: zxid, digestHigh, digestLow, nodeCount, sessionCount } = tree;
  const files = readdirSync(dataDir).filter((name) => name.startsWith("state-") && !name.endsWith("-journal"));
  if (files.length !== 1) throw new Error(`there are ${files.length} state files`);
  const { branches, commitHint, committedConfig, currentEpoch, lastSeenConfig, promise, tail } = store.log.durable;
  const configs = [committedConfig, lastSeenConfig].map((config) =>
    config === undefined ? undefined : decodeMembers(config),
  );
  const sids = new Set(configs.map((config) => config?.servers.map((server) => server.sid).join()));
  const standing = [
    `member ${[...sids].join(" or ")} alone`,
    commitHint === tail.zxid ? "all committed" : "not all committed",
    promise.epoch === currentEpoch && promise.sid === sid ? "its epoch held" : "its epoch not held",
    `${branches.length} branch`,
  ].join(", ");
  return { ensembleId, sid, zxid, tree: [digestHigh, digestLow, nodeCount, sessionCount].join(), standing };
}
