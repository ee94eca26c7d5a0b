/**
 * Fills and frees the disks of a real ensemble under load, again and again.
 *
 *     npm run tool -- ensemble-full-disk [--rounds 5] [--seed N] [--keep]
 *
 * Every data directory is a tmpfs of its own, in a mount namespace of the tool's own. Rounds in
 * turn:
 *
 * - leader: its disk is kept full, another server must lead, and writes must continue;
 * - follower: its disk is kept full, writes must continue; it may step out, and must return
 *   unasked;
 * - all: every disk is kept below its reserve; reads are answered by each server, additions refused
 *   by a retriable error, deletes carried out and sessions opened;
 * - restart: a follower whose disk is full is killed and started, and must answer reads, if only
 *   read-only ones, before there is room;
 * - brief: every disk is kept full for a moment.
 *
 * No server may end, and reads must be answered throughout. When there is room again, all
 * must be level. The history of all clients is checked as in ensemble-kill.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { newSeed, toolOptions } from "@zooid/conformance/internal/tool-options";
import { create, OP, read, versioned } from "@zooid/conformance/internal/wire";
import { inOwnNamespaces, run } from "../processes/own-namespaces.ts";
import { Ballast } from "./ballast.ts";
import { longestGapMs } from "./ensemble-history.ts";
import { EnsembleLoad } from "./ensemble-load.ts";
import { Ensemble, type EnsembleServer, until } from "./ensemble-servers.ts";
import { playRounds } from "./load-rounds.ts";
import { NO_NODE, RawSession, Unanswered } from "./raw-session.ts";

const options = toolOptions({ rounds: 5, seed: newSeed(), keep: false });
/**
 * More than a log keeps, with the segments that it writes and has ready, so that only ballast fills
 * it.
 */
const DISK_SIZE = "192m";
/** Below the reserve of such a disk, a twentieth. */
const LEFT_BYTES = 8 * 1024 * 1024;
const DEADLINE_MS = 60_000;
/**
 * How long a full disk is watched at least, and at most while it is waited for that its server
 * steps out.
 */
const FULL_MS = 1500;
const STEP_OUT_MS = 6000;
const SESSION_TIMEOUT_MS = 40_000;
const OPERATION_TIMEOUT = -7;
const SETTINGS = ["readonlymode.enabled=true", `maxSessionTimeout=${SESSION_TIMEOUT_MS}`];

const KINDS = ["leader", "follower", "all", "restart", "brief"] as const;
type Kind = (typeof KINDS)[number];

if (await inOwnNamespaces(["ip", "mount"])) await main();

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ensemble-full-disk-"));
  run("ip", "link", "set", "lo", "up");
  const ensemble = await Ensemble.create({ folder, serverCount: 3, tickMs: 500, syncLimit: 4, settings: SETTINGS });
  const load = new EnsembleLoad({
    servers: ensemble.servers,
    seed: options.seed,
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
  });
  load.recorder.mayLackRoom = true;
  console.log(`seed ${options.seed}, three servers, each on ${DISK_SIZE} of tmpfs, in ${folder}`);
  for (const server of ensemble.servers) {
    run("mount", "-t", "tmpfs", "-o", `size=${DISK_SIZE}`, "none", server.dataDir);
    server.writeMyid();
  }
  const { rounds, keep } = options;
  const isFine = await playRounds({ ensemble, load, rounds }, (round) => runRound(round, { ensemble, load }));
  for (const server of ensemble.servers) run("umount", server.dataDir);
  if (isFine && !keep) rmSync(folder, { recursive: true, force: true });
  console.log(isFine ? "full disks ended no server, and nothing acknowledged is lost" : "FAILED");
  process.exit(isFine ? 0 : 1);
}

interface Place {
  readonly ensemble: Ensemble;
  readonly load: EnsembleLoad;
}

async function runRound(round: number, place: Place): Promise<readonly string[]> {
  const { ensemble, load } = place;
  const kind = KINDS[(round - 1) % KINDS.length] ?? "leader";
  const { servers } = ensemble;
  const leader = await ensemble.untilLeader(servers, DEADLINE_MS);
  const followers = servers.filter((server) => server !== leader);
  const follower = followers[round % followers.length] ?? leader;
  const victims = kind === "leader" ? [leader] : kind === "follower" || kind === "restart" ? [follower] : servers;
  const pids = servers.map(({ pid }) => pid);
  const faults: string[] = [];
  const probes = kind === "all" ? await makeProbes(leader, round) : undefined;
  load.recorder.refusedForRoomCount = 0;
  await load.start();
  const ballasts = victims.map(({ dataDir }) => new Ballast(dataDir, kind === "all" ? LEFT_BYTES : 0));
  const filledAt = process.hrtime.bigint();
  for (const ballast of ballasts) {
    if (kind === "restart") ballast.fill();
    else ballast.keepFull();
  }
  const seen = await watchFull(kind, { ...place, leader, victims, probes });
  for (const ballast of ballasts) ballast.remove();
  await ensemble.untilLevel(DEADLINE_MS);
  await untilRoom(ensemble, "0");
  const freedAt = process.hrtime.bigint();
  await load.untilDone(freedAt);
  await load.rest();
  faults.push(...seen, ...(await load.check()));
  if (faults.length === 0) await load.clear();
  for (const [index, server] of servers.entries()) {
    const isRestarted = kind === "restart" && server === follower;
    if (!server.isRunning) faults.push(`server ${server.sid} ${server.state}`);
    else if (server.pid !== pids[index] && !isRestarted) faults.push(`server ${server.sid} is another process`);
  }
  const { writes, reads, refusedForRoomCount } = load.recorder;
  console.log(
    `round ${round}: ${kind} (${victims.map(({ sid }) => `server ${sid}`).join(", ")}), longest time without a write ` +
      `${longestGapMs(writes, { after: filledAt }).toFixed(0)} ms, without a read ` +
      `${longestGapMs(reads, { after: filledAt }).toFixed(0)} ms, ${refusedForRoomCount} writes refused`,
  );
  return faults;
}

interface FullDisks extends Place {
  readonly leader: EnsembleServer;
  readonly victims: readonly EnsembleServer[];
  readonly probes: Probes | undefined;
}

/** Checks what must work while disks are full. @returns what did not */
async function watchFull(kind: Kind, full: FullDisks): Promise<readonly string[]> {
  const { ensemble, load, victims } = full;
  const others = ensemble.servers.filter((server) => !victims.includes(server));
  switch (kind) {
    case "leader":
      await ensemble.untilLeader(others, DEADLINE_MS);
      await goesOn(full, others);
      return [];
    case "follower":
      await goesOn(full, others);
      await untilSteppedOut(victims);
      return [];
    case "restart": {
      const [victim] = victims;
      await victim?.kill();
      victim?.launch();
      await victim?.untilServing(DEADLINE_MS);
      // Its role may change meanwhile, which ends connections.
      await untilReads(full, victims);
      return [];
    }
    case "all": {
      await untilReads(full, ensemble.servers);
      await until("refused writes", DEADLINE_MS, () => load.recorder.refusedForRoomCount > 0);
      await untilRoom(ensemble, "1");
      return (await full.probes?.check()) ?? [];
    }
    case "brief":
      await delay(FULL_MS);
      return [];
  }
}

/** Writes and reads are answered by the servers with room. */
async function goesOn(full: FullDisks, others: readonly EnsembleServer[]): Promise<void> {
  const movedAt = process.hrtime.bigint();
  await delay(FULL_MS);
  await full.load.untilDone(movedAt);
  await untilReads(full, others);
}

/** Each server answers a read of a session of its own. */
async function untilReads({ ensemble }: Place, at: readonly EnsembleServer[]): Promise<void> {
  for (const server of at) {
    await until(
      `a read at server ${server.sid}`,
      DEADLINE_MS,
      async () => (await readFaults(server)).length === 0,
      () => ensemble.describe(),
    );
  }
}

/**
 * A follower that cannot log acks nothing, and is left behind. It may have room in its segments for
 * longer than this.
 */
async function untilSteppedOut(victims: readonly EnsembleServer[]): Promise<void> {
  const end = performance.now() + STEP_OUT_MS;
  while (performance.now() < end) {
    const roles = await Promise.all(victims.map((server) => server.role()));
    if (roles.some((role) => role === "none" || role === "read-only")) return;
    await delay(100);
  }
}

/**
 * Every server has noticed that there is room, or none: no leadership is handed over for it any
 * more.
 */
async function untilRoom(ensemble: Ensemble, isLow: "0" | "1"): Promise<void> {
  const hasNoticed = async (server: EnsembleServer): Promise<boolean> =>
    (await server.monitor()).get("zk_zooid_disk_low") === isLow;
  await until(
    isLow === "0" ? "room on every disk" : "every disk to be full",
    DEADLINE_MS,
    async () => (await Promise.all(ensemble.servers.map(hasNoticed))).every(Boolean),
    () => ensemble.describe(),
  );
  await ensemble.untilLevel(DEADLINE_MS);
}

/** A server answers reads, as a member or without a role. @returns what is wrong with the answer */
async function readFaults({ sid, host, port }: EnsembleServer): Promise<readonly string[]> {
  try {
    const session = await RawSession.open({ host, port, timeoutMs: SESSION_TIMEOUT_MS, readOnly: true });
    const { error } = await session.ask(OP.getData, read("/keys"));
    await session.abandon();
    return error === 0 ? [] : [`a read at server ${sid}, without room, was answered ${error}`];
  } catch (error) {
    if (error instanceof Unanswered) return [`a read at server ${sid}, without room, was not answered`];
    throw error;
  }
}

interface Probes {
  check(): Promise<readonly string[]>;
}

/** The requests to an ensemble without room, beside the load. */
async function makeProbes({ host, port }: EnsembleServer, round: number): Promise<Probes> {
  const path = `/doomed${round}`;
  const created = create(path, { data: "x" });
  const deleted = versioned(path, -1);
  const maker = await RawSession.open({ host, port, timeoutMs: SESSION_TIMEOUT_MS });
  await maker.ask(OP.create, created);
  await maker.end();
  const ask = async (faults: string[]): Promise<true | undefined> => {
    const expect = (what: string, found: number, ...expected: number[]): void => {
      if (!expected.includes(found)) faults.push(`${what} was answered ${found}`);
    };
    try {
      const session = await RawSession.open({ host, port, timeoutMs: SESSION_TIMEOUT_MS });
      // Asked again after a lost connection, the node may be gone already.
      expect("a delete without room", (await session.ask(OP.delete, deleted)).error, 0, NO_NODE);
      expect("a create without room", (await session.ask(OP.create, created)).error, OPERATION_TIMEOUT);
      expect("the end of a session without room", (await session.ask(OP.close)).error, 0);
      await session.abandon();
      return true;
    } catch (error) {
      // A server that noticed late that its disk is full was given the leadership first.
      if (error instanceof Unanswered) return undefined;
      throw error;
    }
  };
  return {
    check: async () => {
      const faults: string[] = [];
      await until("answers without room", DEADLINE_MS, () => ask(faults));
      return faults;
    },
  };
}
