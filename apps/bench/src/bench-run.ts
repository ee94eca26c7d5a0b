import type { Bench, RunOptions, Workload } from "./bench.ts";
import type { BenchConfig } from "./bench-config.ts";
import type { Host } from "./connections/hosts.ts";
import { serverFacts } from "./connections/server-facts.ts";
import type { Job, Outcomes } from "./load/job.ts";
import { runJob } from "./load/load-crew.ts";
import type { Progress } from "./progress.ts";
import type { Measurement } from "./results/measurement.ts";
import { NULL_TREE, openTree } from "./tree.ts";

export interface BenchRunOptions {
  readonly config: BenchConfig;
  readonly hosts: readonly (readonly Host[])[];
  /** Whether the hosts are a null server, on which nothing is prepared. */
  readonly isNull: boolean;
  readonly signal: AbortSignal;
  readonly progress: Progress;
  /** Prefix of each phase's name: side and repeat. */
  readonly title: string;
}

/** Runs a workload once and collects its points. */
export async function runWorkload(workload: Workload, options: BenchRunOptions): Promise<readonly Measurement[]> {
  const measurements: Measurement[] = [];
  for await (const measurement of workload.run(benchOf(options))) {
    measurements.push(measurement);
    // An interrupted point is not a measurement.
    options.signal.throwIfAborted();
  }
  return measurements;
}

function benchOf({ config, hosts, isNull, signal, progress, title }: BenchRunOptions): Bench {
  return {
    config,
    hosts,
    signal,
    openTree: (options) => (isNull ? Promise.resolve(NULL_TREE) : openTree(options)),
    facts: serverFacts,
    phase: (name, total) => {
      signal.throwIfAborted();
      progress.begin({ name: title + name, unit: total?.unit ?? "", total: total?.count, expectedMs: undefined });
      return (done) => {
        signal.throwIfAborted();
        progress.advance(done);
      };
    },
    run: async <J extends Job>(
      job: J,
      { name, workers, expectedMs, unit, onPart }: RunOptions,
    ): Promise<readonly Outcomes[J["kind"]][]> => {
      signal.throwIfAborted();
      progress.begin({ name: title + name, unit, total: undefined, expectedMs });
      return runJob(job, {
        workers,
        signal,
        onStart: () => progress.restartClock(),
        onProgress: (total, errors) => progress.advance(total, errors),
        ...(onPart === undefined ? {} : { onPart }),
      });
    },
  };
}
