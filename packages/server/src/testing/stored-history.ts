import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DiskOptions } from "../disk/disk-marks.ts";
import type { LogEvent } from "../log-events.ts";
import type { LogFields } from "../log-fields.ts";
import { startServer } from "../server.ts";
import type { ZooidServer } from "../server-api.ts";
import type { Act, ActWeights } from "./acts.ts";
import { CLIENT_ACTS, type ClientAct, HistoryClients } from "./history-clients.ts";
import { imageOf, SMALL_FILES } from "./small-files.ts";

type StoredKind = ClientAct | "stop and start" | "crash and start";

export const STORED_ACTS: ActWeights<StoredKind> = [...CLIENT_ACTS, ["stop and start", 1], ["crash and start", 1]];

export type StoredAct = Act<StoredKind>;

/**
 * One server with real files that are small for their purpose: it rolls, checkpoints and purges after a few writes. After each start it must hold what
 * its answers promised, and start without a repair.
 */
export class StoredHistory implements AsyncDisposable {
  readonly #lines: string[] = [];
  readonly #clients: HistoryClients;
  #directory: string;
  #server: ZooidServer;
  startCount = 0;

  private constructor(directory: string, server: ZooidServer) {
    this.#directory = directory;
    this.#server = server;
    this.#clients = new HistoryClients(() => this.#server.port);
  }

  static async run(acts: readonly StoredAct[]): Promise<{ readonly startCount: number }> {
    await using history = await StoredHistory.begin();
    for (const act of acts) await history.perform(act);
    await history.perform({ kind: "stop and start", a: 0, b: 0 });
    const { startCount } = history;
    return { startCount };
  }

  static async begin(): Promise<StoredHistory> {
    const directory = await mkdtemp(join(tmpdir(), "zooid-history-"));
    const history = new StoredHistory(directory, await startSmall(directory, []));
    await history.#clients.begin();
    return history;
  }

  async perform({ kind, a, b }: StoredAct): Promise<void> {
    switch (kind) {
      case "stop and start":
        await this.#server.stop();
        // Each third time with so little room on the disk that additions are refused until the next start.
        return this.#start(b % 3 === 1 ? { reserveBytes: Number.MAX_SAFE_INTEGER } : {});
      case "crash and start":
        return this.#crash();
      default:
        return this.#clients.perform(kind, a, b);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#clients[Symbol.asyncDispose]();
    await this.#server.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #crash(): Promise<void> {
    const image = await imageOf(this.#directory);
    await this.#server.stop();
    await rm(this.#directory, { recursive: true });
    this.#directory = image;
    await this.#start();
  }

  async #start(disk: DiskOptions = {}): Promise<void> {
    await this.#clients.disconnect();
    this.#server = await startSmall(this.#directory, this.#lines, disk);
    this.startCount++;
    if (this.#lines.length > 0) throw new Error(`a start without a fault warns: ${this.#lines.join("; ")}`);
    await this.#clients.resume();
  }
}

/** Events that are meant to be there. */
const EXPECTED: ReadonlySet<LogEvent> = new Set<LogEvent>(["disk-full", "state-file-behind", "storage-slow"]);

/** A server whose files hold a few writes each. */
function startSmall(dataDir: string, lines: string[], disk: DiskOptions = {}): Promise<ZooidServer> {
  const note = (text: string, { event }: LogFields<LogEvent>): void => {
    if (!EXPECTED.has(event)) lines.push(text);
  };
  const log = { info: () => {}, warn: note, error: note };
  return startServer({ port: 0, dataDir, ttlNodes: true, slowRequestMs: 0, ...SMALL_FILES, disk, log });
}
