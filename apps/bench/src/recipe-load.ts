import { ErrorCounts } from "./error-counts.ts";
import { GeneratorGauge, type GeneratorLoad } from "./generator-gauge.ts";
import type { Host } from "./hosts.ts";
import { LatencyRecorder } from "./latency-recorder.ts";
import type { Performer } from "./performer.ts";
import { processCpuMs } from "./process-cpu.ts";
import { type Act, actOf, type RecipeName, type Tally } from "./recipe-acts.ts";
import { RecipeClients } from "./recipe-clients.ts";
import { waitUntil } from "./wait-until.ts";

/** Members of a recipe, each with a client of its own. All are in one thread, so that their times are on one clock. */
export interface RecipeJob {
  readonly kind: "recipe";
  readonly recipe: RecipeName;
  readonly hosts: readonly Host[];
  readonly clients: number;
  /** A node that is there and has no children. */
  readonly path: string;
  readonly payloadBytes: number;
  readonly warmupMs: number;
  readonly durationMs: number;
  readonly sessionTimeoutMs: number;
  readonly serverPid: number | undefined;
}

/** Everything within the window. */
export interface RecipeOutcome {
  /** How often it was done, whatever it is. */
  readonly count: number;
  readonly durationMs: number;
  readonly latencies: Readonly<Record<string, Int32Array>>;
  /** Calls of the clients, and events that reached them. */
  readonly requests: number;
  readonly notifications: number;
  /** What else was seen, by name. */
  readonly seen: Readonly<Record<string, number>>;
  /** Undefined where the process is not known. */
  readonly serverCpuMs: number | undefined;
  readonly errors: Readonly<Record<string, number>>;
  readonly generator: GeneratorLoad;
}

export class RecipeLoad implements Performer<RecipeOutcome> {
  total = 0;
  readonly #job: RecipeJob;
  readonly #errors = new ErrorCounts();
  readonly #recorders = new Map<string, LatencyRecorder>();
  readonly #seen = new Map<string, number>();
  #phase: "before" | "measured" | "over" = "before";
  #count = 0;
  #ready: { readonly clients: RecipeClients; readonly act: Act } | undefined;

  constructor(job: RecipeJob) {
    this.#job = job;
  }

  get errorCount(): number {
    return this.#errors.total;
  }

  async open(): Promise<void> {
    const { hosts, clients: count, sessionTimeoutMs, recipe, path, payloadBytes } = this.#job;
    const clients = await RecipeClients.open({ hosts, count, sessionTimeoutMs });
    const act = actOf(recipe, { clients, path, payloadBytes, tally: this.#tally });
    for (const kind of act.kinds) this.#recorders.set(kind, new LatencyRecorder());
    await act.prepare();
    this.#ready = { clients, act };
  }

  async run(startMs: number, signal: AbortSignal): Promise<RecipeOutcome> {
    if (this.#ready === undefined) throw new Error("a recipe is played by clients that are open");
    const { clients, act } = this.#ready;
    const { warmupMs, durationMs, serverPid } = this.#job;
    const cpuMs = (): number | undefined => (serverPid === undefined ? undefined : processCpuMs(serverPid));
    await waitUntil(startMs, signal);
    const acting = act.run();
    await waitUntil(startMs + warmupMs, signal);
    const [requests, notifications, serverCpuMs] = [clients.requests, clients.notifications, cpuMs()];
    const fromMs = performance.now();
    const gauge = new GeneratorGauge();
    this.#phase = "measured";
    await waitUntil(startMs + warmupMs + durationMs, signal);
    this.#phase = "over";
    const usedMs = cpuMs();
    const outcome: RecipeOutcome = {
      count: this.#count,
      durationMs: performance.now() - fromMs,
      latencies: Object.fromEntries([...this.#recorders].map(([kind, { counts }]) => [kind, counts])),
      requests: clients.requests - requests,
      notifications: clients.notifications - notifications,
      seen: Object.fromEntries(this.#seen),
      serverCpuMs: usedMs === undefined || serverCpuMs === undefined ? undefined : usedMs - serverCpuMs,
      errors: this.#errors.toRecord(),
      generator: gauge.stop(),
    };
    await clients.close();
    await acting;
    return outcome;
  }

  readonly #tally: Tally = {
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
    // Those whom the end of their client cuts off have not failed.
    failed: (error) => {
      if (this.#phase !== "over") this.#errors.add(codeOf(error));
    },
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "FAILED";
}
