import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { CoverageCounts, LEVEL_SITUATIONS, RESTORE_SITUATIONS, SITUATIONS } from "../runs/coverage.ts";
import { workInProcess } from "../worker-process.ts";
import { addResults, type BatchResult, type BatchTask, NO_RESULT, runBatch, type SeedFailure } from "./batch.ts";
import { type PlanChanges, planOf } from "./draw-plan.ts";
import { runPlan } from "./seed-run.ts";
import { optionsOf, shrink } from "./shrink.ts";

export interface RunSeedsOptions {
  readonly from: number;
  readonly seeds: number;
  /** Ends after this time, even if seeds are left. */
  readonly minutes: number | undefined;
  /** Worker processes. */
  readonly parallel: number;
  readonly isTwice: boolean;
  /** The directory for transcripts of failures. */
  readonly out: string;
  readonly keepsGoing: boolean;
  /** Whether failures are shrunk and their transcripts written. */
  readonly explains: boolean;
  /** Whether a situation that was never reached is a failure. */
  readonly checksSometimes: boolean;
  readonly mutation: string | undefined;
  readonly changes: PlanChanges;
}

const BATCH = 20;
const TRANSCRIPTS_MAX = 5;

/** Runs seeds, prints a summary, and explains failures. Returns the exit status. */
export async function runSeeds(options: RunSeedsOptions): Promise<number> {
  const startMs = performance.now();
  const result = await runAll(options, startMs);
  const { failures } = result;
  report(result, performance.now() - startMs, options);
  const explained = options.explains ? TRANSCRIPTS_MAX : 0;
  for (const failure of failures.slice(0, explained)) explain(failure, options);
  for (const { seed, what } of failures.slice(explained)) console.log(`seed ${seed}: ${firstLine(what)}`);
  console.log(`${result.seeds - failures.length} passed, ${failures.length} failed`);
  const counts = new CoverageCounts();
  counts.addAll(result.sometimes);
  const { hasLevels, hasRestores } = options.changes;
  const unreachedApart = [
    ...(hasRestores === true ? counts.unreachedOfRestores : []),
    ...(hasLevels === true ? counts.unreachedOfLevels : []),
  ];
  const unreached = hasRestores === true || hasLevels === true ? unreachedApart : counts.unreached;
  const isIncomplete = options.checksSometimes && unreached.length > 0;
  if (isIncomplete) console.log(`never reached: ${unreached.join(", ")}`);
  return failures.length > 0 || isIncomplete ? 1 : 0;
}

async function runAll(options: RunSeedsOptions, startMs: number): Promise<BatchResult> {
  const { from, seeds, minutes, isTwice, keepsGoing, changes } = options;
  let next = from;
  let isEnding = false;
  let result = NO_RESULT;
  const take = (): BatchTask | undefined => {
    const isLate = minutes !== undefined && performance.now() - startMs > minutes * 60_000;
    if (isEnding || isLate || next >= from + seeds) return undefined;
    const count = Math.min(BATCH, from + seeds - next);
    const task = { from: next, count, isTwice, keepsGoing };
    next += count;
    return task;
  };
  const done = (batch: BatchResult): void => {
    result = addResults(result, batch);
    if (batch.failures.length > 0 && !keepsGoing) isEnding = true;
  };
  const workers = Math.min(options.parallel, availableParallelism());
  if (workers <= 1) {
    for (let task = take(); task !== undefined; task = take()) {
      done(runBatch(task, changes));
      // The logs' promises settle and are collected.
      await Promise.resolve();
    }
  } else {
    await Promise.all(Array.from({ length: workers }, () => workInProcess(workerArgs(options), take, done)));
  }
  return result;
}

function workerArgs({ changes, mutation }: RunSeedsOptions): readonly string[] {
  const more = mutation === undefined ? [] : ["--mutate", mutation];
  const words = optionsOf(changes).split(" ");
  return [...more, ...words.filter((word) => word !== "")];
}

function report(result: BatchResult, wallMs: number, { from, changes }: RunSeedsOptions): void {
  const { seeds, virtualMs, cpuMs } = result;
  const hours = (ms: number): string => (ms / 3_600_000).toFixed(2);
  console.log(
    `${seeds} seeds from ${from}: ${hours(virtualMs)} virtual hours in ${hours(cpuMs)} CPU hours (${Math.round(
      virtualMs / cpuMs,
    )} virtual hours a CPU hour), ${Math.round(wallMs / 1000)} s`,
  );
  console.log(
    `${result.steps} steps, ${result.messages} messages, ${result.committed} transactions, ${result.acknowledged} acknowledged writes, ${result.answers} answers, ${result.events} events, ${result.faults} faults, ${result.crashes} crashes, ${result.epochs} epochs, ${result.expiries} expired sessions`,
  );
  if (seeds < 100) return;
  console.log("sometimes:");
  const situations = [
    ...SITUATIONS,
    ...(changes.hasRestores === true ? RESTORE_SITUATIONS : []),
    ...(changes.hasLevels === true ? LEVEL_SITUATIONS : []),
  ];
  for (const what of situations) console.log(`  ${String(result.sometimes[what] ?? 0).padStart(8)}  ${what}`);
}

/** Shrinks a failure, writes its transcript, and prints the command that repeats it. */
function explain({ seed, rule, what }: SeedFailure, { changes, out, mutation }: RunSeedsOptions): void {
  console.log(`\nseed ${seed}: ${what}`);
  if (rule === "X1") return;
  const smallest = shrink(seed, rule, changes);
  const lines: string[] = [];
  const run = runPlan(planOf(seed, smallest), { lines });
  mkdirSync(out, { recursive: true });
  const file = join(out, `seed-${seed}.txt`);
  const more = mutation === undefined ? "" : `--mutate ${mutation} `;
  const repeat = `npm run simulate -- ${more}--from ${seed} --seeds 1 ${optionsOf(smallest)}`.trim();
  writeFileSync(file, `${run.violation?.message}\n${repeat}\n${planText(seed, smallest)}\n\n${lines.join("\n")}\n`);
  console.log(`as given: npm run simulate -- ${more}--from ${seed} --seeds 1 ${optionsOf(changes)}`.trim());
  console.log(`smallest: ${repeat}`);
  console.log(`transcript: ${file} (${lines.length} lines)`);
}

function planText(seed: number, changes: PlanChanges): string {
  const { faults, ...plan } = planOf(seed, changes);
  return JSON.stringify({ ...plan, faults: [...faults.keys()] });
}

function firstLine(text: string): string {
  return text.split("\n")[0] ?? "";
}
