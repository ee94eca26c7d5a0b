import type { Host } from "../connections/hosts.ts";
import { waitUntil } from "../wait-until.ts";
import { ErrorCounts } from "./error-counts.ts";
import { GeneratorGauge, type GeneratorLoad } from "./generator-gauge.ts";
import { LatencyRecorder } from "./latency-recorder.ts";
import type { Performer } from "./performer.ts";
import { processCpuMs } from "./process-cpu.ts";
import { type Act, type ActObserver, actOf, type RecipeName } from "./recipe-acts.ts";
import { RecipeClients } from "./recipe-clients.ts";

/**
 * Members of a recipe, each with a client of its own. All are in one thread, so that their times
 * are on one clock.
 */
export interface RecipeJob {
  readonly kind: "recipe";
  readonly recipe: RecipeName;
  readonly hosts: readonly Host[];
  readonly clients: number;
  /** An existing node without children. */
  readonly path: string;
  readonly payloadBytes: number;
  readonly warmupMs: number;
  readonly durationMs: number;
  readonly sessionTimeoutMs: number;
  readonly serverPid: number | undefined;
}

/** The whole window, or from the first calm moment in it to the last. */
export interface RecipeOutcome {
  /** Number of completed operations. */
  readonly count: number;
  readonly durationMs: number;
  readonly latencies: Readonly<Record<string, Int32Array>>;
  /** Calls of the clients, and events that reached them. */
  readonly requests: number;
  readonly notifications: number;
  /** Other observations, by name. */
  readonly seen: Readonly<Record<string, number>>;
  /** Undefined if the process is unknown. */
  readonly serverCpuMs: number | undefined;
  readonly errors: Readonly<Record<string, number>>;
  readonly generator: GeneratorLoad;
}

/** Maximum time for which a run without a sample continues after its end. */
const SAMPLE_MS_MAX = 30_000;

interface Reading {
  readonly atMs: number;
  readonly requests: number;
  readonly notifications: number;
  readonly serverCpuMs: number | undefined;
}

export class RecipeLoad implements Performer<RecipeOutcome> {
  total = 0;
  readonly #job: RecipeJob;
  readonly errors: ErrorCounts = new ErrorCounts();
  readonly #recorders = new Map<string, LatencyRecorder>();
  readonly #seen = new Map<string, number>();
  /** `due`: measured from the next calm moment on. */
  #phase: "before" | "due" | "measured" | "over" = "before";
  #count = 0;
  /** Aborted with the first sample between two calm moments. */
  readonly #sampled = new AbortController();
  #first: Reading | undefined;
  #last: Reading | undefined;
  #ready: { readonly clients: RecipeClients; readonly act: Act } | undefined;

  constructor(job: RecipeJob) {
    this.#job = job;
  }

  async open(): Promise<void> {
    const { hosts, clients: count, sessionTimeoutMs, recipe, path, payloadBytes } = this.#job;
    const clients = await RecipeClients.open({ hosts, count, sessionTimeoutMs });
    const act = actOf(recipe, { clients, path, payloadBytes, observer: this.#observer });
    for (const kind of act.kinds) this.#recorders.set(kind, new LatencyRecorder());
    await act.prepare();
    this.#ready = { clients, act };
  }

  async run(startMs: number, signal: AbortSignal): Promise<RecipeOutcome> {
    if (this.#ready === undefined) throw new Error("a recipe is played by clients that are open");
    const { clients, act } = this.#ready;
    const { warmupMs, durationMs } = this.#job;
    await waitUntil(startMs, signal);
    const acting = act.run();
    await waitUntil(startMs + warmupMs, signal);
    const gauge = new GeneratorGauge();
    this.#phase = "due";
    if (!act.hasCalm) this.#look();
    await waitUntil(startMs + warmupMs + durationMs, signal);
    // A slow server gets the time for one sample: a run without any has no figures.
    if (act.hasCalm) await Promise.race([this.#untilSampled(signal), acting]);
    else this.#look();
    this.#phase = "over";
    const outcome = this.#outcome(gauge.stop());
    await clients.close();
    await acting;
    return outcome;
  }

  #untilSampled(signal: AbortSignal): Promise<void> {
    return waitUntil(performance.now() + SAMPLE_MS_MAX, AbortSignal.any([signal, this.#sampled.signal]));
  }

  #outcome(generator: GeneratorLoad): RecipeOutcome {
    const [from, to] = [this.#first, this.#last];
    const between = (of: (reading: Reading) => number): number =>
      from === undefined || to === undefined ? 0 : of(to) - of(from);
    return {
      count: this.#count,
      durationMs: between(({ atMs }) => atMs),
      latencies: Object.fromEntries([...this.#recorders].map(([kind, { counts }]) => [kind, counts])),
      requests: between(({ requests }) => requests),
      notifications: between(({ notifications }) => notifications),
      seen: Object.fromEntries(this.#seen),
      serverCpuMs: from?.serverCpuMs === undefined ? undefined : between(({ serverCpuMs = 0 }) => serverCpuMs),
      errors: this.errors.toRecord(),
      generator,
    };
  }

  /** Counts from the first sample to the last. */
  #look(): void {
    if (this.#ready === undefined || this.#phase === "before" || this.#phase === "over") return;
    const { requests, notifications } = this.#ready.clients;
    const { serverPid } = this.#job;
    const serverCpuMs = serverPid === undefined ? undefined : processCpuMs(serverPid);
    this.#last = { atMs: performance.now(), requests, notifications, serverCpuMs };
    this.#first ??= this.#last;
    this.#phase = "measured";
    if (this.#count > 0) this.#sampled.abort();
  }

  readonly #observer: ActObserver = {
    done: () => {
      this.total++;
      if (this.#phase === "measured") this.#count++;
    },
    took: (kind, ms) => {
      if (this.#phase === "measured") this.#recorders.get(kind)?.record(ms);
    },
    saw: (name) => {
      if (this.#phase === "measured") this.#seen.set(name, (this.#seen.get(name) ?? 0) + 1);
    },
    calm: () => this.#look(),
    // Members that are cut off by the end of their client have not failed.
    failed: (error) => {
      if (this.#phase !== "over") this.errors.add(codeOf(error));
    },
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "FAILED";
}
