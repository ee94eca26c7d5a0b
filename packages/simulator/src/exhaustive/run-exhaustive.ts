import { availableParallelism } from "node:os";
import { workInProcess } from "../worker-process.ts";
import type { Deviation } from "./choice-points.ts";
import {
  addRuns,
  beginExploring,
  type ExhaustiveResult,
  type ExhaustiveTask,
  exploreTask,
  runDeviations,
  type Space,
} from "./explore.ts";

export interface RunExhaustiveOptions {
  readonly space: Space;
  /** Worker processes. */
  readonly parallel: number;
  readonly mutation: string | undefined;
}

const PRINTED_LINES_MAX = 200;
const PROGRESS_MS = 60_000;

/** Explores a space, prints its progress, and explains a failure. Returns the exit status. */
export async function runExhaustive(options: RunExhaustiveOptions): Promise<number> {
  const startMs = performance.now();
  const seconds = (): number => Math.round((performance.now() - startMs) / 1000);
  const { result, tasks } = beginExploring(options.space);
  const { runs, steps, cpuMs, failure } = await exploreParts(options, result, tasks, (sum, done) => {
    console.log(`${done} of ${tasks.length} first deviations: ${sum.runs} runs, ${seconds()} s`);
  });
  console.log(`${runs} runs, ${steps} steps, ${Math.round(cpuMs / 1000)} s of CPU, ${seconds()} s`);
  if (failure === undefined) {
    console.log("no violation");
    return 0;
  }
  const more = options.mutation === undefined ? "" : `--mutate ${options.mutation} `;
  const repeat = `npm run simulate -- ${more}--exhaustive --deviations '${JSON.stringify(failure.deviations)}'`;
  console.log(`${failure.what}\n${repeat}`);
  return 1;
}

/** Runs one list of deviations and prints its transcript. Returns the exit status. */
export function runOneScript(deviations: readonly Deviation[]): number {
  const lines: string[] = [];
  const { violation } = runDeviations(deviations, lines);
  console.log(lines.slice(-PRINTED_LINES_MAX).join("\n"));
  console.log(violation === undefined ? "no violation" : violation.message);
  return violation === undefined ? 0 : 1;
}

/** Runs in a worker process: explores the tasks that it receives and sends back the results. */
export function serveExhaustive(space: Space): void {
  process.on("message", async (task) => {
    process.send?.(await exploreTask(space, task as ExhaustiveTask));
  });
}

async function exploreParts(
  options: RunExhaustiveOptions,
  first: ExhaustiveResult,
  tasks: readonly ExhaustiveTask[],
  progress: (sum: ExhaustiveResult, done: number) => void,
): Promise<ExhaustiveResult> {
  let sum = first;
  let handed = 0;
  let doneCount = 0;
  let printedMs = performance.now();
  const take = (): ExhaustiveTask | undefined => (sum.failure === undefined ? tasks[handed++] : undefined);
  const done = (result: ExhaustiveResult): void => {
    sum = addRuns(sum, result);
    doneCount++;
    if (performance.now() - printedMs < PROGRESS_MS) return;
    printedMs = performance.now();
    progress(sum, doneCount);
  };
  const workers = Math.min(options.parallel, availableParallelism());
  if (workers > 1)
    await Promise.all(Array.from({ length: workers }, () => workInProcess(workerArgs(options), take, done)));
  else for (let task = take(); task !== undefined; task = take()) done(await exploreTask(options.space, task));
  return sum;
}

function optionsOfSpace({ depth, faults, hasElections, stride = 1, offset = 0 }: Space): readonly string[] {
  const numbers = ["--depth", depth, "--faults", faults, "--stride", stride, "--from", offset].map(String);
  return hasElections === true ? [...numbers, "--elections"] : numbers;
}

function workerArgs({ space, mutation }: RunExhaustiveOptions): readonly string[] {
  const args = ["--exhaustive", ...optionsOfSpace(space)];
  return mutation === undefined ? args : [...args, "--mutate", mutation];
}
