import type { GeneratorLoad } from "../load/generator-gauge.ts";
import type { JudgedBy } from "../load/generator-verdict.ts";
import type { Timeline } from "./timeline.ts";

/**
 * One figure of one run, with what it was measured from. A workload yields one for each of its
 * points.
 */
export interface Measurement {
  /** Its name within the workload: `50 % reads`. */
  readonly point: string;
  /** The line of a chart that it belongs to, and its place on the axis. */
  readonly series: string;
  readonly x: number;
  /** How the load was made, in words: `closed loop, 64 × 16`. */
  readonly loop: string;
  /** A closed loop does not see what a stall does to those who would have come meanwhile. */
  readonly isBlind: boolean;
  /** The figure that comparisons are made of. */
  readonly value: number;
  readonly unit: string;
  readonly better: "higher" | "lower";
  /** Latencies by kind, in buckets of latency-recorder.ts. The first is what the point is about. */
  readonly latencies: Readonly<Record<string, Int32Array>>;
  /** How late an open loop's requests left. */
  readonly lag: Int32Array | undefined;
  readonly requests: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly generator: readonly GeneratorLoad[];
  /**
   * The criterion for the generator as the bottleneck: a thread that was always busy; requests of
   * an open loop that left late (its thread looks at the clock all the time, so being busy says
   * nothing); or nothing, where the generator only waits.
   */
  readonly judgedBy: JudgedBy;
  /** Further figures, by name with unit: `retries`, `memory per session (bytes)`. */
  readonly figures: Readonly<Record<string, number>>;
  /** Sentences. */
  readonly notes: readonly string[];
  /** Where it was asked how the load fared from moment to moment. */
  readonly timeline?: Timeline;
}

/** The parts that most measurements of a closed loop have in common. */
export const CLOSED_LOOP: Omit<
  Measurement,
  "point" | "loop" | "value" | "unit" | "latencies" | "requests" | "errors" | "generator" | "timeline"
> = {
  series: "",
  x: 0,
  isBlind: true,
  better: "higher",
  lag: undefined,
  judgedBy: "utilisation",
  figures: {},
  notes: [],
};
