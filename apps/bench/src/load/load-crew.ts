import type { Worker } from "node:worker_threads";
import { startThread } from "../thread.ts";
import type { Job, Outcomes } from "./job.ts";
import type { Share } from "./request-load.ts";

/** The input of a thread. */
export interface Assignment {
  readonly job: Job;
  readonly share: Share;
}

export type ToWorker = { readonly kind: "start"; readonly atEpochMs: number } | { readonly kind: "stop" };

export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "progress"; readonly total: number; readonly errors: number }
  | { readonly kind: "part"; readonly part: string }
  | { readonly kind: "outcome"; readonly outcome: unknown };

export interface CrewOptions {
  readonly workers: number;
  /** Ends the job early, with the measurements until then. */
  readonly signal: AbortSignal;
  /** Called when all have connected and the measurement starts. */
  onStart?(): void;
  onProgress?(total: number, errors: number): void;
  onPart?(part: string): void;
}

/** Delay of the start after all are ready, so that the message reaches every thread in time. */
const START_DELAY_MS = 50;

/**
 * Runs a job with some threads, which connect first and then start at one moment.
 *
 * @returns one outcome for each thread
 */
export async function runJob<J extends Job>(job: J, options: CrewOptions): Promise<readonly Outcomes[J["kind"]][]> {
  const { workers, signal } = options;
  const threads = Array.from({ length: workers }, (_, worker) => new LoadThread(job, { worker, workers }, options));
  const stop = (): void => {
    for (const thread of threads) thread.send({ kind: "stop" });
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.all(threads.map((thread) => thread.ready));
    const atEpochMs = performance.timeOrigin + performance.now() + START_DELAY_MS;
    for (const thread of threads) thread.send({ kind: "start", atEpochMs });
    if (signal.aborted) stop();
    options.onStart?.();
    const report = (): void => {
      const sum = (of: (thread: LoadThread) => number): number =>
        threads.reduce((total, thread) => total + of(thread), 0);
      options.onProgress?.(
        sum(({ total }) => total),
        sum(({ errors }) => errors),
      );
    };
    for (const thread of threads) thread.onProgress = report;
    // A thread answers a job with the outcome of that job's kind.
    return (await Promise.all(threads.map((thread) => thread.outcome))) as Outcomes[J["kind"]][];
  } finally {
    signal.removeEventListener("abort", stop);
    await Promise.all(threads.map((thread) => thread.dismiss()));
  }
}

class LoadThread {
  readonly ready: Promise<void>;
  readonly outcome: Promise<unknown>;
  total = 0;
  errors = 0;
  onProgress: () => void = () => {};
  readonly #thread: Worker;

  constructor(job: Job, share: Share, { onPart }: CrewOptions) {
    this.#thread = startThread("load/load-worker", { job, share } satisfies Assignment);
    const ready = Promise.withResolvers<void>();
    const outcome = Promise.withResolvers<unknown>();
    this.ready = ready.promise;
    this.outcome = outcome.promise;
    // The promise that is awaited reports the failure; the other must not count as unhandled.
    this.ready.catch(() => {});
    this.outcome.catch(() => {});
    this.#thread.on("message", (message: FromWorker) => {
      switch (message.kind) {
        case "ready":
          ready.resolve();
          return;
        case "progress":
          this.total = message.total;
          this.errors = message.errors;
          this.onProgress();
          return;
        case "part":
          onPart?.(message.part);
          return;
        case "outcome":
          outcome.resolve(message.outcome);
      }
    });
    const fail = (error: Error): void => {
      ready.reject(error);
      outcome.reject(error);
    };
    this.#thread.on("error", fail);
    this.#thread.on("exit", () => fail(new Error("a thread of the generator ended before it was done")));
  }

  send(message: ToWorker): void {
    this.#thread.postMessage(message);
  }

  async dismiss(): Promise<void> {
    await this.#thread.terminate();
  }
}
