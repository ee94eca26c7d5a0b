import { mkdtemp, mkdtempDisposable, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { composeZxid, epochOf, ZXID_NONE } from "@zooid/model";
import { putEntry } from "@zooid/txn-log";
import { CHECKPOINTS_FULL_FILE, FULL_FILE, openStore } from "@zooid/txn-log/sqlite";
import { freePorts } from "@zooid/wire/testing/free-ports";
import { writeOfflineSnapshot } from "../offline/offline-snapshot.ts";
import { readSurvivor } from "../offline/survivor.ts";
import type { LogEvent } from "../operators/log-events.ts";
import type { LogFields } from "../operators/log-fields.ts";
import type { EnsembleOptions, EnsembleServerOptions } from "../peers/ensemble-config.ts";
import { startServer } from "../server.ts";
import type { ZooidServer } from "../server-api.ts";
import type { Act, ActWeights } from "./acts.ts";
import { CLIENT_ACTS, type ClientAct, HistoryClients } from "./history-clients.ts";
import { PATIENT } from "./patient.ts";
import { imageOf, isRepair, SMALL_FILES } from "./small-files.ts";
import { restore, SUPER_DIGEST, snapshotOf } from "./snapshot-endpoint.ts";

type EnsembleKind =
  | ClientAct
  | "stop and start one"
  | "crash and start one"
  | "move the leader"
  | "miss much"
  | "log alone"
  | "run out of room"
  | "snapshot and found again"
  | "export and found again";

/** A member that starts again gets what it missed. */
export const ENSEMBLE_ACTS: ActWeights<EnsembleKind> = [
  ...CLIENT_ACTS.map(([kind, weight]) => [kind, 2 * weight] as const),
  ["stop and start one", 2],
  ["crash and start one", 2],
  ["move the leader", 2],
  // More than the log keeps: it gets the state, as a SNAP.
  ["miss much", 2],
  // The leader logged an entry that no other member has, and others lead since: a TRUNC makes it
  // cut the entry.
  ["log alone", 2],
  // On a member's disk, for its log or for its state; there is room again in the same process, or
  // after a stop or a crash.
  ["run out of room", 2],
  // All disks are lost but a snapshot, of a member's admin port or of the files of a stopped one:
  // one server restores it alone, and an ensemble is founded on it.
  ["snapshot and found again", 1],
  ["export and found again", 1],
];

export type EnsembleAct = Act<EnsembleKind>;

const SIDS = [1, 2, 3] as const;
const PREFIX = join(tmpdir(), "zooid-history-");
const FULL_FILES = [FULL_FILE, CHECKPOINTS_FULL_FILE] as const;
/** Events of a disk that has no room, or has it again. */
const ROOM_EVENTS: ReadonlySet<LogEvent> = new Set<LogEvent>([
  "log-has-room",
  "log-waits-for-room",
  // Of both.
  "storage-no-room",
]);
/**
 * Fills after which the log must have purged its segments of before: each is 24 writes of up to
 * 6000 bytes.
 */
const FILLS_MAX = 40;
const SEGMENT = /^log-\d{8}-[0-9a-f]{16}\.db$/;
const FILL_BYTES = 5999;
const SESSION_TIMEOUT_MS_MAX = 120_000;

interface Member {
  readonly sid: number;
  directory: string;
  server: ZooidServer | undefined;
  /** Its newest role; undefined while it looks for a leader. */
  role: string | undefined;
  /** Whether its disk has no room: no client connects to it. */
  isFull: boolean;
  /** The last event about the room on its disk, since that was changed. */
  roomEvent: LogEvent | undefined;
  /** Resolves when one of them has changed, or a line of a repair was written. */
  changed: PromiseWithResolvers<void>;
}

export interface EnsembleCounts {
  readonly startCount: number;
  /** States that were sent whole. */
  readonly snapCount: number;
  /** Entries that only one member had logged. */
  readonly truncCount: number;
  /** How often a member's disk had no room in the middle. */
  readonly fullCount: number;
  /** Ensembles that were founded on a snapshot. */
  readonly restoreCount: number;
}

/**
 * Three servers in this process with real files that are small for their purpose, one of which is
 * away at a time. After each act all that run must serve the tree that the answers promised; each
 * start is without a repair.
 */
export class StoredEnsemble implements AsyncDisposable {
  readonly #members: readonly Member[];
  readonly #lines: readonly EnsembleServerOptions[];
  readonly #ports: readonly number[];
  readonly #clients: HistoryClients;
  readonly #repairs: string[] = [];
  #nextPort = 0;
  #startCount = 0;
  #snapCount = 0;
  #truncCount = 0;
  #fullCount = 0;
  #restoreCount = 0;

  private constructor(directories: readonly string[], ports: readonly number[]) {
    this.#ports = ports.slice(0, SIDS.length);
    this.#lines = SIDS.map((sid, i) => {
      const [quorumPort = 0, electionPort = 0] = ports.slice(SIDS.length + 2 * i);
      return { sid, host: "127.0.0.1", quorumPort, electionPort };
    });
    this.#members = SIDS.map((sid, i) => {
      const directory = directories[i] ?? "";
      const changed = Promise.withResolvers<void>();
      return { sid, directory, server: undefined, role: undefined, isFull: false, roomEvent: undefined, changed };
    });
    this.#clients = new HistoryClients(() => this.#portOf(this.#nextPort++), { mayBeCarriedOut: true });
  }

  static async run(acts: readonly EnsembleAct[]): Promise<EnsembleCounts> {
    await using ensemble = await StoredEnsemble.begin();
    for (const act of acts) await ensemble.perform(act);
    await ensemble.perform({ kind: "move the leader", a: 0, b: 0 });
    return ensemble.counts;
  }

  static async begin(): Promise<StoredEnsemble> {
    const directories = await Promise.all(SIDS.map(() => mkdtemp(PREFIX)));
    const ensemble = new StoredEnsemble(directories, await freePorts(3 * SIDS.length));
    await Promise.all(ensemble.#members.map((member) => ensemble.#start(member)));
    await ensemble.#serving();
    await ensemble.#clients.begin();
    return ensemble;
  }

  get counts(): EnsembleCounts {
    return {
      startCount: this.#startCount,
      snapCount: this.#snapCount,
      truncCount: this.#truncCount,
      fullCount: this.#fullCount,
      restoreCount: this.#restoreCount,
    };
  }

  async perform({ kind, a, b }: EnsembleAct): Promise<void> {
    const member = this.#members[a % this.#members.length] ?? this.#leader;
    switch (kind) {
      case "stop and start one":
        return this.#without(member, () => this.#clients.perform("set", a, b));
      case "crash and start one":
        return this.#crash(member, () => this.#clients.perform("create", a, b));
      case "move the leader":
        return this.#without(this.#leader, () => this.#clients.perform("multi", a, b));
      case "miss much":
        return this.#without(member, () => this.#fillLog(a));
      case "log alone": {
        const leader = this.#leader;
        return this.#without(leader, async () => {
          await this.#logAlone(leader);
          await this.#clients.perform("create", a, b);
        });
      }
      case "run out of room":
        return b % 4 === 3 ? this.#runOutOfRoomForFolds(member, a) : this.#runOutOfRoom(member, a, b % 4);
      case "snapshot and found again":
        return this.#foundAgain(() => this.#snapshotOf(member));
      case "export and found again":
        return this.#foundAgain(() => this.#exportOf(member));
      default:
        return this.#clients.perform(kind, a, b);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clients[Symbol.asyncDispose]();
    await Promise.all(this.#members.map(({ server }) => server?.stop()));
    for (const { directory } of this.#members) await rm(directory, { recursive: true, force: true });
  }

  /**
   * Writes until the leader's log has nothing more that a member which is away had. Checkpoints let
   * it purge, and take their time.
   */
  async #fillLog(a: number): Promise<void> {
    const { directory } = this.#leader;
    const segments = async (): Promise<readonly string[]> =>
      (await readdir(directory)).filter((name) => SEGMENT.test(name));
    const before = await segments();
    for (let i = 0; i < FILLS_MAX; i++) {
      await this.#clients.perform("fill", a + i, 5999);
      const now = await segments();
      if (!before.some((name) => now.includes(name))) return;
    }
    throw new Error(`the log still has ${before.join(", ")} after ${FILLS_MAX} fills`);
  }

  /** A member stops, the others continue, and it starts again. */
  async #without(member: Member, meanwhile: () => Promise<void>): Promise<void> {
    await this.#clients.disconnect();
    await member.server?.stop();
    await this.#restart(member, meanwhile);
  }

  /** As {@link #without}, on the files as they were before it stopped. */
  async #crash(member: Member, meanwhile: () => Promise<void>): Promise<void> {
    await this.#clients.disconnect();
    const image = await imageOf(member.directory);
    await member.server?.stop();
    await rm(member.directory, { recursive: true });
    member.directory = image;
    await this.#restart(member, meanwhile);
  }

  /**
   * A member whose log has no room acknowledges nothing, and leads no longer; the others serve. It
   * has room again in the same process, after a crash (1), or after a stop (2).
   */
  async #runOutOfRoom(member: Member, a: number, end: number): Promise<void> {
    const { answered } = await this.#fillWithout(member, FULL_FILE, "log-waits-for-room", a);
    await answered;
    await this.#until(() => member.role !== "leading");
    await this.#serving();
    if (end === 1) return this.#crash(member, () => this.#clients.perform("create", a, end));
    if (end === 2) return this.#without(member, () => this.#clients.perform("set", a, end));
    await this.#makeRoom(member, "log-has-room");
  }

  /** A member whose state cannot follow serves on. */
  async #runOutOfRoomForFolds(member: Member, a: number): Promise<void> {
    const { answered } = await this.#fillWithout(member, CHECKPOINTS_FULL_FILE, "storage-no-room", a);
    await answered;
    await this.#makeRoom(member, "storage-no-room");
  }

  /** Writes at the other members, until this one reports that its disk has no room. */
  async #fillWithout(
    member: Member,
    file: string,
    event: LogEvent,
    a: number,
  ): Promise<{ readonly answered: Promise<void> }> {
    await this.#clients.disconnect();
    member.isFull = true;
    await this.#clients.resume();
    member.roomEvent = undefined;
    await writeFile(join(member.directory, file), "");
    const fill = await this.#clients.beginFill(a, FILL_BYTES);
    await this.#until(() => member.roomEvent === event);
    this.#fullCount++;
    return fill;
  }

  async #makeRoom(member: Member, event: LogEvent): Promise<void> {
    member.roomEvent = undefined;
    await this.#endShortage(member);
    await this.#until(() => member.roomEvent === event);
    await this.#serving();
    await this.#checkAll();
  }

  async #endShortage(member: Member): Promise<void> {
    for (const file of FULL_FILES) await rm(join(member.directory, file), { force: true });
    member.isFull = false;
  }

  /** The procedure of docs/disaster.md for an ensemble that has lost all disks but a snapshot. */
  async #foundAgain(snapshotOf: () => Promise<Uint8Array<ArrayBuffer>>): Promise<void> {
    await this.#checkAll();
    const [first = this.#leader] = this.#members;
    const { snapshot } = this.#clients;
    const bytes = await snapshotOf();
    await this.#clients.disconnect();
    await Promise.all(this.#members.map(({ server }) => server?.stop()));
    for (const each of this.#members) {
      await rm(each.directory, { recursive: true });
      each.directory = await mkdtemp(PREFIX);
    }
    {
      // A single server has the id 1.
      await using alone = await this.#startServer(first);
      await restoreAt(alone, bytes, 200);
    }
    // Members without data found an ensemble of their own where this one starts too late.
    await this.#start(first);
    await Promise.all(this.#members.filter((each) => each !== first).map((each) => this.#start(each)));
    await this.#serving();
    this.#restoreCount++;
    await this.#clients.restored(snapshot, { isFounded: true });
    await this.#checkAll();
  }

  /** A member gives snapshots, and takes none: the others would not follow. */
  async #snapshotOf({ server }: Member): Promise<Uint8Array<ArrayBuffer>> {
    if (server === undefined) throw new Error("between two acts all members run");
    const { bytes } = await snapshotOf(server);
    await restoreAt(server, bytes, 409);
    return bytes;
  }

  async #exportOf({ server, directory }: Member): Promise<Uint8Array<ArrayBuffer>> {
    await this.#clients.disconnect();
    await server?.stop();
    await using place = await mkdtempDisposable(PREFIX);
    const warn = (text: string): void => void this.#repairs.push(text);
    const survivor = readSurvivor({ dataDir: directory });
    const { file } = await writeOfflineSnapshot(survivor, { directory: place.path, takesDamaged: false, warn });
    return new Uint8Array(await readFile(file));
  }

  async #restart(member: Member, meanwhile: () => Promise<void>): Promise<void> {
    member.server = undefined;
    await this.#serving();
    await this.#clients.resume();
    await meanwhile();
    await this.#start(member);
    await this.#serving();
    await this.#checkAll();
  }

  async #start(member: Member): Promise<void> {
    await this.#endShortage(member);
    member.role = undefined;
    member.server = await this.#startServer(member, { sid: member.sid, servers: this.#lines, ...PATIENT });
    this.#startCount++;
  }

  /** @param ensemble undefined for one that serves alone */
  #startServer(member: Member, ensemble?: EnsembleOptions): Promise<ZooidServer> {
    const { sid, directory } = member;
    const note = (text: string, { event, role }: LogFields<LogEvent>): void => {
      if (event === "role") this.#roleOf(member, String(role));
      if (event === "whole-state-sent") this.#snapCount++;
      if (ROOM_EVENTS.has(event)) {
        member.roomEvent = event;
        this.#changed(member);
      }
      if (!isRepair(event)) return;
      this.#repairs.push(`server ${sid}: ${text}`);
      this.#changed(member);
    };
    return startServer({
      port: this.#ports[sid - 1] ?? 0,
      dataDir: directory,
      ttlNodes: true,
      ...SMALL_FILES,
      sessionTimeoutMsMax: SESSION_TIMEOUT_MS_MAX,
      connectionsPerAddressMax: 0,
      ...(ensemble === undefined ? {} : { ensemble }),
      disk: { testBreak: "full-by-files" },
      admin: { port: 0, rateLimiterIntervalMs: 0 },
      superDigest: SUPER_DIGEST,
      log: { info: note, warn: note, error: note },
    });
  }

  #roleOf(member: Member, role: string): void {
    member.role = role === "looking" ? undefined : role;
    this.#changed(member);
  }

  #changed(member: Member): void {
    member.changed.resolve();
    member.changed = Promise.withResolvers<void>();
  }

  /** Resolves when one of those that run and have room leads, and the others follow. */
  #serving(): Promise<void> {
    return this.#until(() => {
      const roles = this.#open.map(({ role }) => role);
      return !roles.includes(undefined) && roles.filter((role) => role === "leading").length === 1;
    });
  }

  /** Resolves when the events of those that run have made it so. */
  async #until(claim: () => boolean): Promise<void> {
    for (;;) {
      if (this.#repairs.length > 0) throw new Error(`a start without a fault repairs: ${this.#repairs.join("; ")}`);
      if (claim()) return;
      await Promise.race(this.#running.map(({ changed }) => changed.promise));
    }
  }

  /** Sessions are resumed at each in turn, and each shows the same tree. */
  async #checkAll(): Promise<void> {
    await this.#clients.disconnect();
    await this.#clients.resume();
    for (const _ of this.#running) {
      await this.#clients.move();
      await this.#clients.check();
    }
  }

  /** A proposal that the leader logged before it ended, and that reached no other. */
  async #logAlone({ sid, directory }: Member): Promise<void> {
    const fail = (error: Error): never => {
      throw error;
    };
    const written = Promise.withResolvers<void>();
    const handler = { appended: () => written.resolve(), roomChanged: () => {}, failed: fail, warned: () => {} };
    await using store = await openStore({ directory, sid, handler });
    const { tail, currentEpoch } = store.log.durable;
    const counter = epochOf(tail.zxid) === currentEpoch ? tail.zxid % 2 ** 32 : 0;
    const record = new TextEncoder().encode("no other server has it");
    const bytes = new Uint8Array(64);
    const end = putEntry(bytes, 0, composeZxid(currentEpoch, counter + 1), record);
    store.log.append({ bytes, start: 0, end }, 1, ZXID_NONE);
    await written.promise;
    this.#truncCount++;
  }

  get #running(): readonly Member[] {
    return this.#members.filter(({ server }) => server !== undefined);
  }

  /** Those that clients connect to. */
  get #open(): readonly Member[] {
    return this.#running.filter(({ isFull }) => !isFull);
  }

  get #leader(): Member {
    const leader = this.#running.find(({ role }) => role === "leading");
    if (leader === undefined) throw new Error("none of the members leads");
    return leader;
  }

  /** The port of the nearest open member from a place on. */
  #portOf(place: number): number {
    const at = place % this.#members.length;
    const open = this.#open;
    const { sid } = open.find((member) => member.sid > at) ?? open[0] ?? { sid: at + 1 };
    return this.#ports[sid - 1] ?? 0;
  }
}

async function restoreAt(server: ZooidServer, bytes: Uint8Array<ArrayBuffer>, expected: number): Promise<void> {
  const { status, error } = await restore(server, bytes);
  if (status !== expected) throw new Error(`a restore is answered by ${status}, not ${expected}: ${error}`);
}
