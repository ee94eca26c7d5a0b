import type { BenchConfig } from "./bench-config.ts";
import type { Host } from "./connections/hosts.ts";
import type { ServerFacts } from "./connections/server-facts.ts";
import type { Job, Outcomes } from "./load/job.ts";
import type { Measurement } from "./results/measurement.ts";
import type { BenchTree, TreeOptions } from "./tree.ts";

/** What a workload works with. */
export interface Bench {
  readonly config: BenchConfig;
  /** The lists of hosts, the first of which most workloads use. */
  readonly hosts: readonly (readonly Host[])[];
  readonly signal: AbortSignal;
  openTree(options: TreeOptions): Promise<BenchTree>;
  facts(host: Host): Promise<ServerFacts>;
  /** Does a job with as many threads as are right for it, and shows its progress. */
  run<J extends Job>(job: J, options: RunOptions): Promise<readonly Outcomes[J["kind"]][]>;
  /** Shows that something else than load goes on. */
  phase(name: string, total?: { readonly count: number; readonly unit: string }): (done: number) => void;
}

export interface RunOptions {
  readonly name: string;
  readonly workers: number;
  /** How long it takes; undefined when that is not known. */
  readonly expectedMs: number | undefined;
  readonly unit: string;
  onPart?(part: string): void;
}

/** A named load with its points. */
export interface Workload {
  readonly name: string;
  /** One sentence for the help. */
  readonly summary: string;
  /** What the axis of its chart shows; the scale on which its points lie. */
  readonly axis: { readonly label: string; readonly scale: "linear" | "logarithmic" };
  /** What a null server must pretend so that a generator is calibrated with it. Undefined when it cannot. */
  readonly pretence:
    | ((config: BenchConfig) => { readonly payloadBytes: number; readonly children: number })
    | undefined;
  /** Throws a UsageError when the servers are not such that it can be measured. */
  run(bench: Bench): AsyncIterable<Measurement>;
}
