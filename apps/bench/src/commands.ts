import type { Workload } from "./bench.ts";
import type { BenchConfig } from "./bench-config.ts";
import { runWorkload } from "./bench-run.ts";
import type { Side } from "./command-line.ts";
import type { Host } from "./connections/hosts.ts";
import { ensembleFacts } from "./connections/server-facts.ts";
import { startNullServer } from "./null-server/null-server-thread.ts";
import type { Progress } from "./progress.ts";
import { CHECK_LOADS, type CheckLoad, judgeCheck } from "./results/check-verdict.ts";
import { compareRuns } from "./results/comparison.ts";
import type { Measurement } from "./results/measurement.ts";
import { type PointReport, reportPoints } from "./results/point-report.ts";
import {
  type CalibrateResult,
  type CheckResult,
  type CompareResult,
  type RunResult,
  resultHead,
} from "./results/result.ts";
import { UsageError } from "./usage-error.ts";

/** The environment of a command. */
export interface CommandOptions {
  readonly workload: Workload;
  readonly config: BenchConfig;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

export async function run(options: CommandOptions): Promise<RunResult> {
  const { workload, config } = options;
  const head = resultHead(workload, config);
  const servers = await Promise.all(config.hosts.map(ensembleFacts));
  const points = await repeated(options, config.hosts);
  return { ...head, kind: "run", servers, points };
}

/** Runs the load of a size, and judges it. */
export async function check(options: CommandOptions, load: CheckLoad): Promise<CheckResult> {
  const { points, ...head } = await run(options);
  const [point] = points;
  if (point === undefined) throw new Error("check has one point");
  const criteria = judgeCheck(point, CHECK_LOADS[load].ratePerSecond);
  return { ...head, kind: "check", load, points, criteria, isPassed: criteria.every(({ isMet }) => isMet) };
}

/** Runs both sides in turn, A B A B, so that a drifting machine affects both alike. */
export async function compare(options: CommandOptions, a: Side, b: Side): Promise<CompareResult> {
  const { workload, config } = options;
  const head = resultHead(workload, config);
  const servers = { a: await ensembleFacts(a.hosts), b: await ensembleFacts(b.hosts) };
  const pairs: { a: readonly Measurement[]; b: readonly Measurement[] }[] = [];
  for (let repeat = 1; repeat <= config.repeats; repeat++) {
    const side = ({ name, hosts }: Side): Promise<readonly Measurement[]> =>
      runWorkload(workload, {
        ...options,
        hosts: [hosts],
        isNull: false,
        title: `${name} ${repeat} of ${config.repeats}: `,
      });
    pairs.push({ a: await side(a), b: await side(b) });
  }
  return {
    ...head,
    kind: "compare",
    a: { name: a.name, servers: servers.a },
    b: { name: b.name, servers: servers.b },
    points: compareRuns(pairs),
  };
}

export async function calibrate(options: CommandOptions): Promise<CalibrateResult> {
  const { workload, config } = options;
  if (workload.pretence === undefined) {
    throw new UsageError(
      `${workload.name} asks for more than a null server can pretend, so it cannot be calibrated with one`,
    );
  }
  const head = resultHead(workload, config);
  const servers = await Promise.all(config.hosts.map(ensembleFacts));
  const measured = config.hosts.length === 0 ? [] : await repeated(options, config.hosts);
  await using server = await startNullServer(workload.pretence(config));
  const nullHosts: readonly Host[] = [{ name: "127.0.0.1", port: server.port }];
  const generator = await repeated({ ...options, isNull: true }, [nullHosts]);
  const headroom = measured.flatMap(({ point, value }) => {
    const own = generator.find((one) => one.point === point);
    return own === undefined ? [] : [{ point, factor: own.value.median / value.median }];
  });
  return { ...head, kind: "calibrate", servers, generator, measured, headroom };
}

async function repeated(
  options: CommandOptions & { readonly isNull?: boolean },
  hosts: readonly (readonly Host[])[],
): Promise<readonly PointReport[]> {
  const { workload, config, isNull = false } = options;
  const runs: (readonly Measurement[])[] = [];
  for (let repeat = 1; repeat <= config.repeats; repeat++) {
    const title = `${isNull ? "null server " : ""}${config.repeats > 1 ? `${repeat} of ${config.repeats}: ` : ""}`;
    runs.push(await runWorkload(workload, { ...options, hosts, isNull, title }));
  }
  return reportPoints(runs);
}
