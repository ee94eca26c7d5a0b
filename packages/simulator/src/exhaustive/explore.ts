import type { Plan } from "../runs/plan.ts";
import type { RunReport } from "../runs/report.ts";
import { planOf } from "../seeds/draw-plan.ts";
import type { ChoicePoint, Deviation } from "./choice-points.ts";
import { runScript } from "./scripted-run.ts";

const CRASHES_MAX = 2;
const CUTS_MAX = 1;
const WRITES = 2;

/** Which of all runs of a small ensemble are explored; see the README. */
export interface Space {
  /** Most deviations of any kind in one run. */
  readonly depth: number;
  /** Most deviations in a run with only crashes and a cut. */
  readonly faults: number;
  /** Whether more than `depth` of them may fall into elections too. */
  readonly hasElections?: boolean;
  /** Every so-many-th pair is explored, with every run that continues it; 1 is all. */
  readonly stride?: number;
  /** Which slice: from 0 to `stride - 1`. */
  readonly offset?: number;
}

/** The number of explored runs, and the first one that failed. */
export interface ExhaustiveResult {
  readonly runs: number;
  readonly steps: number;
  readonly cpuMs: number;
  readonly failure: { readonly deviations: readonly Deviation[]; readonly what: string } | undefined;
}

/** All runs that begin with one deviation, as plain values for another process. */
export interface ExhaustiveTask {
  readonly index: number;
  readonly first: ChoicePoint;
}

export function addRuns(a: ExhaustiveResult, b: ExhaustiveResult): ExhaustiveResult {
  return {
    runs: a.runs + b.runs,
    steps: a.steps + b.steps,
    cpuMs: a.cpuMs + b.cpuMs,
    failure: a.failure ?? b.failure,
  };
}

/** Three servers and one client; only when and where it connects and writes is random. */
function smallPlan(): Plan {
  return {
    ...planOf(1, {
      voters: 3,
      observers: 0,
      clients: 1,
      only: [],
      hasSmallLimits: false,
      hasPlainManners: true,
      sessions: "replicated",
      tenants: 0,
    }),
    groups: undefined,
    electionAlg: 3,
    thinkMs: 10,
    isShuffled: false,
    delayMsMin: 1,
    delayMsMax: 1,
    // Longer than a message takes: much happens during a sync.
    syncMsMin: 3,
    syncMsMax: 3,
    counterMax: undefined,
    windowBytes: undefined,
    runBytes: undefined,
  };
}

/** One run of the small ensemble. @param lines receives a transcript */
export function runDeviations(deviations: readonly Deviation[], lines?: string[]): RunReport {
  const plan = smallPlan();
  const transcript = lines === undefined ? {} : { lines };
  return runScript({ plan, writes: WRITES, deviations, findsPoints: false, ...transcript }).report;
}

/** Every run of a small ensemble (3 servers, 2 writes) in the space, one after the other. */
export async function exploreAll(space: Space): Promise<ExhaustiveResult> {
  const { result, tasks } = beginExploring(space);
  let sum = result;
  for (const task of tasks) {
    if (sum.failure === undefined) sum = addRuns(sum, await exploreTask(space, task));
  }
  return sum;
}

/** The run without deviations, and the tasks that continue it. */
export function beginExploring(space: Space): {
  readonly result: ExhaustiveResult;
  readonly tasks: readonly ExhaustiveTask[];
} {
  const explorer = new Explorer(space);
  const first = explorer.run([]);
  return { result: explorer.result, tasks: first.map((point, index) => ({ index, first: point })) };
}

export async function exploreTask(space: Space, { index, first }: ExhaustiveTask): Promise<ExhaustiveResult> {
  const explorer = new Explorer(space);
  await explorer.explore(index, first);
  return explorer.result;
}

class Explorer {
  readonly #space: Space;
  readonly #cpu = process.cpuUsage();
  #runs = 0;
  #steps = 0;
  #failure: ExhaustiveResult["failure"];

  constructor(space: Space) {
    this.#space = space;
  }

  get result(): ExhaustiveResult {
    const { user, system } = process.cpuUsage(this.#cpu);
    return { runs: this.#runs, steps: this.#steps, cpuMs: (user + system) / 1000, failure: this.#failure };
  }

  async explore(index: number, first: ChoicePoint): Promise<void> {
    const { stride = 1, offset = 0 } = this.#space;
    const seconds = this.run([first]);
    for (const [i, second] of seconds.entries()) {
      if ((index + i) % stride === offset) await this.#visit([first, second]);
      if (this.#failure !== undefined) return;
    }
  }

  async #visit(path: readonly ChoicePoint[]): Promise<void> {
    // Unawaited promises of the logs keep a run in memory until the event loop has turned.
    await new Promise((resolve) => setImmediate(resolve));
    for (const next of this.run(path)) {
      await this.#visit([...path, next]);
      if (this.#failure !== undefined) return;
    }
  }

  /** @returns the further deviations, from the last one on */
  run(path: readonly ChoicePoint[]): readonly ChoicePoint[] {
    const { depth, faults } = this.#space;
    const deviations = path.map(({ deviation }) => deviation);
    const findsPoints = path.length < Math.max(depth, faults);
    const { points, report } = runScript({ plan: smallPlan(), writes: WRITES, deviations, findsPoints });
    this.#runs++;
    this.#steps += report.steps;
    if (report.violation === undefined) return points.filter((point) => isNext(path, point) && this.#isIn(path, point));
    this.#failure = { deviations, what: report.violation.message };
    return [];
  }

  #isIn(before: readonly ChoicePoint[], point: ChoicePoint): boolean {
    const path = [...before, point];
    const count = (kind: Deviation["kind"]): number => path.filter(({ deviation }) => deviation.kind === kind).length;
    if (count("crash") > CRASHES_MAX || count("cut") > CUTS_MAX) return false;
    const { depth, faults, hasElections } = this.#space;
    if (path.length <= depth) return true;
    if (path.length > faults || count("later") > 0) return false;
    return hasElections === true || !path.some(({ isElection }) => isElection);
  }
}

/**
 * Whether a deviation comes after those of a run. At one place the order is fixed: crashes by
 * server, then a cut.
 */
function isNext(path: readonly ChoicePoint[], { step, deviation }: ChoicePoint): boolean {
  const last = path.at(-1);
  if (last === undefined || step > last.step) return true;
  if (step < last.step || last.deviation.kind !== "crash" || deviation.kind === "later") return false;
  return deviation.kind === "cut" || deviation.sid > last.deviation.sid;
}
