/** Commands of the bench without a process of their own. */
import { type Command, parseCommandLine } from "../command-line.ts";
import { calibrate, check, compare, run } from "../commands.ts";
import { Progress } from "../progress.ts";
import type { Result } from "../results/result.ts";
import { writeResult } from "../results/result-output.ts";
import type { Timeline } from "../results/timeline.ts";

/** The fields of a JSON result that tests use. */
export interface ResultJson {
  readonly points: readonly {
    readonly point: string;
    readonly loop: string;
    readonly isBlindToStalls: boolean;
    readonly value: { readonly median: number; readonly all: readonly number[] };
    readonly requests: number;
    readonly errors: Readonly<Record<string, number>>;
    readonly latencies: Readonly<
      Record<string, { readonly count: number; readonly p99: number; readonly histogram: string }>
    >;
    readonly generator: { readonly utilisation: number; readonly doubts: readonly string[] };
    readonly figures: Readonly<Record<string, number>>;
    readonly timelines: readonly Timeline[];
  }[];
}

/** The command's output on stdout. */
export async function measured(...argv: readonly string[]): Promise<string> {
  const command = parseCommandLine(argv);
  if (command.kind === "text" || command.kind === "null-server") throw new Error(`nothing is measured by ${argv[0]}`);
  return writeResult(await resultOf(command), command.workload, command.output);
}

export async function measuredJson(...argv: readonly string[]): Promise<ResultJson> {
  return JSON.parse(await measured(...argv, "--json", "-")) as ResultJson;
}

function resultOf(command: Exclude<Command, { kind: "text" | "null-server" }>): Promise<Result> {
  const { workload, config } = command;
  const progress = new Progress({ mode: "none", intervalMs: 1_000, stream: process.stderr, job: workload.name });
  const options = { workload, config, progress, signal: new AbortController().signal };
  switch (command.kind) {
    case "run":
      return run(options);
    case "compare":
      return compare(options, command.a, command.b);
    case "check":
      return check(options, command.load);
    case "calibrate":
      return calibrate(options);
  }
}
