import { monitorEventLoopDelay } from "node:perf_hooks";

/** The load of a generator thread during the measurement. */
export interface GeneratorLoad {
  /** The share of time in which its loop was not idle, from 0 to 1. */
  readonly utilisation: number;
  /** The share of time in which it used a core. */
  readonly cpu: number;
  /** Delay of its loop, 99th percentile. */
  readonly stallMsP99: number;
}

const RESOLUTION_MS = 10;

/** Measures its own thread from its creation to `stop`. */
export class GeneratorGauge {
  readonly #startMs: number = performance.now();
  readonly #loop: ReturnType<typeof performance.eventLoopUtilization> = performance.eventLoopUtilization();
  readonly #cpu: NodeJS.CpuUsage = process.threadCpuUsage();
  readonly #delay: ReturnType<typeof monitorEventLoopDelay> = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#delay.enable();
  }

  stop(): GeneratorLoad {
    this.#delay.disable();
    const elapsedMs = performance.now() - this.#startMs;
    const { user, system } = process.threadCpuUsage(this.#cpu);
    // The histogram holds the intervals of a timer, the interval that was asked for included.
    const p99 = this.#delay.count === 0 ? 0 : this.#delay.percentile(99) / 1e6 - RESOLUTION_MS;
    return {
      utilisation: performance.eventLoopUtilization(this.#loop).utilization,
      cpu: (user + system) / 1000 / elapsedMs,
      stallMsP99: Math.max(0, p99),
    };
  }
}
