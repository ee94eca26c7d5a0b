import { once } from "node:events";
import { Worker } from "node:worker_threads";

export interface VictimPlace {
  readonly port: number;
  /** The servers' processes. */
  readonly pids: readonly number[];
}

/**
 * How long the main thread of a server was on a core while the client waited, of the server that
 * was longest.
 */
export interface ServerWork {
  readonly ping: readonly number[];
  readonly set: readonly number[];
  readonly session: readonly number[];
}

/** "ready", and at the end what was seen. */
export type VictimMessage = "ready" | VictimReport;

export interface VictimReport {
  /** How long each ping took, in order. */
  readonly pingMs: readonly number[];
  /** How long each write took, and each new session, in order. */
  readonly writeMs: readonly number[];
  readonly sessionMs: readonly number[];
  readonly cpuMs: ServerWork;
  readonly writeCount: number;
  /** Each write that was refused, and each connection that ended, as a sentence. */
  readonly refusals: readonly string[];
}

/** Another client of a server, on a thread of its own, from its start to {@link end}. */
export class Victim {
  readonly #worker: Worker;
  readonly #report: Promise<VictimReport>;

  private constructor(worker: Worker) {
    this.#worker = worker;
    const { promise, resolve, reject } = Promise.withResolvers<VictimReport>();
    this.#report = promise;
    promise.catch(() => {});
    worker.on("message", (message: VictimMessage) => {
      if (message !== "ready") resolve(message);
    });
    worker.on("error", reject);
  }

  static async start(place: VictimPlace): Promise<Victim> {
    const worker = new Worker(new URL("./victim-worker.ts", import.meta.url), { workerData: place });
    const victim = new Victim(worker);
    await Promise.race([once(worker, "message"), victim.#report]);
    return victim;
  }

  async end(): Promise<VictimReport> {
    this.#worker.postMessage("end");
    const report = await this.#report;
    await this.#worker.terminate();
    return report;
  }
}
