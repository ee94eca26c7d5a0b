import { mkdtemp, mkdtempDisposable, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CHECKPOINTS_FULL_FILE, FULL_FILE } from "@zooid/txn-log/sqlite";
import type { DiskOptions } from "../disk/disk-marks.ts";
import { writeOfflineSnapshot } from "../offline/offline-snapshot.ts";
import { readSurvivor } from "../offline/survivor.ts";
import type { LogEvent } from "../operators/log-events.ts";
import type { LogFields } from "../operators/log-fields.ts";
import { startServer } from "../server.ts";
import type { ZooidServer } from "../server-api.ts";
import type { Act, ActWeights } from "./acts.ts";
import { CLIENT_ACTS, type ClientAct, HistoryClients } from "./history-clients.ts";
import type { ModelTree } from "./model-tree.ts";
import { imageOf, SMALL_FILES } from "./small-files.ts";
import { restore, SUPER_DIGEST, snapshotOf } from "./snapshot-endpoint.ts";

type StoredKind =
  | ClientAct
  | "stop and start"
  | "crash and start"
  | "run out of room"
  | "snapshot and restore"
  | "export and import";

export const STORED_ACTS: ActWeights<StoredKind> = [
  ...CLIENT_ACTS.map(([kind, weight]) => [kind, 2 * weight] as const),
  ["stop and start", 2],
  ["crash and start", 2],
  // Between two writes; there is room again in the same process, or after a stop or a crash.
  ["run out of room", 1],
  // Through the admin port, with writes between the two.
  ["snapshot and restore", 1],
  // Of the files of a stopped server, into an empty directory.
  ["export and import", 1],
];

export type StoredAct = Act<StoredKind>;

export interface StoredCounts {
  readonly startCount: number;
  /** How often a disk had no room in the middle. */
  readonly fullCount: number;
  /** Snapshots that replaced all data, from the admin port and from files. */
  readonly restoreCount: number;
}

const FILL_BYTES = 5999;
const PREFIX = join(tmpdir(), "zooid-history-");

/**
 * One server with real files that are small for their purpose: it rolls, checkpoints and purges
 * after a few writes. After each start it must hold what its answers promised, and start without a
 * repair.
 */
export class StoredHistory implements AsyncDisposable {
  readonly #lines: string[] = [];
  readonly #clients: HistoryClients;
  #directory: string;
  #server: ZooidServer | undefined;
  /** The line that an act waits for. */
  #awaited: { readonly event: LogEvent; readonly written: () => void } | undefined;
  #startCount = 0;
  #fullCount = 0;
  #restoreCount = 0;

  private constructor(directory: string) {
    this.#directory = directory;
    this.#clients = new HistoryClients(() => this.#running.port);
  }

  static async run(acts: readonly StoredAct[]): Promise<StoredCounts> {
    await using history = await StoredHistory.begin();
    for (const act of acts) await history.perform(act);
    await history.perform({ kind: "stop and start", a: 0, b: 0 });
    return history.counts;
  }

  static async begin(): Promise<StoredHistory> {
    const history = new StoredHistory(await mkdtemp(PREFIX));
    history.#server = await history.#startServer({});
    await history.#clients.begin();
    return history;
  }

  get counts(): StoredCounts {
    return { startCount: this.#startCount, fullCount: this.#fullCount, restoreCount: this.#restoreCount };
  }

  async perform({ kind, a, b }: StoredAct): Promise<void> {
    switch (kind) {
      case "stop and start":
        await this.#running.stop();
        // Each third time with so little room on the disk that additions are refused until the next
        // start.
        return this.#start(b % 3 === 1 ? { reserveBytes: Number.MAX_SAFE_INTEGER } : {});
      case "crash and start":
        await this.#crash();
        return this.#start();
      case "run out of room":
        return b % 4 === 3 ? this.#runOutOfRoomForFolds(a) : this.#runOutOfRoom(a, b % 4);
      case "snapshot and restore":
        return this.#restoreSnapshot(a, b);
      case "export and import":
        return this.#importElsewhere();
      default:
        return this.#clients.perform(kind, a, b);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clients[Symbol.asyncDispose]();
    await this.#running.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  /**
   * Writes that find no room are not answered, and are not there after a start; where there is room
   * again, they are answered.
   */
  async #runOutOfRoom(a: number, end: number): Promise<void> {
    const { answered } = await this.#fillWithout(FULL_FILE, "log-waits-for-room", a);
    if (end === 1) await this.#crash();
    if (end === 2) await this.#running.stop();
    await rm(join(this.#directory, FULL_FILE));
    await answered;
    if (end > 0) await this.#start();
  }

  /** Writes wait while the state cannot follow. */
  async #runOutOfRoomForFolds(a: number): Promise<void> {
    const { answered } = await this.#fillWithout(CHECKPOINTS_FULL_FILE, "storage-no-room", a);
    await rm(join(this.#directory, CHECKPOINTS_FULL_FILE));
    await answered;
  }

  async #fillWithout(file: string, event: LogEvent, a: number): Promise<{ readonly answered: Promise<void> }> {
    await this.#clients.perform("open session", 0, 0);
    const { promise: noticed, resolve } = Promise.withResolvers<void>();
    const written = (): void => {
      this.#fullCount++;
      this.#awaited = undefined;
      resolve();
    };
    this.#awaited = { event, written };
    await writeFile(join(this.#directory, file), "");
    const fill = await this.#clients.beginFill(a, FILL_BYTES);
    // A server whose disk had little room before has refused all of them.
    await Promise.race([noticed, fill.answered]);
    return fill;
  }

  async #restoreSnapshot(a: number, b: number): Promise<void> {
    const { snapshot } = this.#clients;
    const { bytes } = await snapshotOf(this.#running);
    for (const kind of ["create", "set", "delete", "fill"] as const) await this.#clients.perform(kind, a, b);
    await this.#restore(bytes, snapshot);
  }

  async #importElsewhere(): Promise<void> {
    const { snapshot } = this.#clients;
    await this.#running.stop();
    await using place = await mkdtempDisposable(PREFIX);
    const warn = (text: string): void => void this.#lines.push(text);
    const survivor = readSurvivor({ dataDir: this.#directory });
    const { file } = await writeOfflineSnapshot(survivor, { directory: place.path, takesDamaged: false, warn });
    await rm(this.#directory, { recursive: true });
    this.#directory = await mkdtemp(PREFIX);
    await this.#clients.disconnect();
    this.#server = await this.#startServer({});
    await this.#restore(new Uint8Array(await readFile(file)), snapshot);
  }

  async #restore(bytes: Uint8Array<ArrayBuffer>, snapshot: ModelTree): Promise<void> {
    const { status, error } = await restore(this.#running, bytes);
    if (status !== 200) throw new Error(`a snapshot is refused: ${error}`);
    this.#restoreCount++;
    this.#failAtLines();
    await this.#clients.restored(snapshot);
  }

  /** The files are as a kill leaves them now. */
  async #crash(): Promise<void> {
    const image = await imageOf(this.#directory);
    await this.#running.stop();
    await rm(this.#directory, { recursive: true });
    this.#directory = image;
  }

  async #start(disk: DiskOptions = {}): Promise<void> {
    await this.#clients.disconnect();
    this.#server = await this.#startServer(disk);
    this.#failAtLines();
    await this.#clients.resume();
  }

  #failAtLines(): void {
    if (this.#lines.length > 0) throw new Error(`a start without a fault warns: ${this.#lines.join("; ")}`);
  }

  /** A server whose files hold a few writes each. */
  #startServer(disk: DiskOptions): Promise<ZooidServer> {
    const note = (text: string, { event }: LogFields<LogEvent>): void => {
      if (event === this.#awaited?.event) this.#awaited.written();
      if (!EXPECTED.has(event)) this.#lines.push(text);
    };
    this.#startCount++;
    return startServer({
      port: 0,
      dataDir: this.#directory,
      ttlNodes: true,
      slowRequestMs: 0,
      ...SMALL_FILES,
      disk: { testBreak: "full-by-files", ...disk },
      admin: { port: 0, rateLimiterIntervalMs: 0 },
      superDigest: SUPER_DIGEST,
      log: { info: () => {}, warn: note, error: note },
    });
  }

  get #running(): ZooidServer {
    if (this.#server === undefined) throw new Error("no server was started");
    return this.#server;
  }
}

/** Events that are meant to be there. */
const EXPECTED: ReadonlySet<LogEvent> = new Set<LogEvent>([
  "disk-full",
  "log-waits-for-room",
  "restoring",
  "state-file-behind",
  "storage-no-room",
  "storage-slow",
]);
