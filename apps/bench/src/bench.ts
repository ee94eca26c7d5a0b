import type { BenchConfig } from "./bench-config.ts";
import type { Host } from "./connections/hosts.ts";
import type { ServerFacts } from "./connections/server-facts.ts";
import type { Job, Outcomes } from "./load/job.ts";
import type { Measurement } from "./results/measurement.ts";
import type { BenchTree, TreeOptions } from "./tree.ts";

/** The interface of a run for workloads. */
export interface Bench {
  readonly config: BenchConfig;
  /** The lists of hosts, the first of which most workloads use. */
  readonly hosts: readonly (readonly Host[])[];
  readonly signal: AbortSignal;
  openTree(options: TreeOptions): Promise<BenchTree>;
  facts(host: Host): Promise<ServerFacts>;
  /** Runs a job with a suitable number of threads, and shows its progress. */
  run<J extends Job>(job: J, options: RunOptions): Promise<readonly Outcomes[J["kind"]][]>;
  /** Shows a phase without load. */
  phase(name: string, total?: { readonly count: number; readonly unit: string }): (done: number) => void;
}

export interface RunOptions {
  readonly name: string;
  readonly workers: number;
  /** Its duration; undefined if unknown. */
  readonly expectedMs: number | undefined;
  readonly unit: string;
  onPart?(part: string): void;
}

/** A named load with its points. */
export interface Workload {
  readonly name: string;
  /** One sentence for the help. */
  readonly summary: string;
  /** The axis of its chart, and the scale of its points. */
  readonly axis: { readonly label: string; readonly scale: "linear" | "logarithmic" };
  /** Answers that a null server must give to calibrate the generator. Without them it cannot. */
  readonly pretence?: (config: BenchConfig) => { readonly payloadBytes: number; readonly children: number };
  /** Throws a UsageError if it cannot be measured on these servers. */
  run(bench: Bench): AsyncIterable<Measurement>;
}
