import { type ChoicePoint, type Deviation, type DeviationKind, Ensemble } from "./ensemble.ts";
import { type Plan, planOf } from "./plan.ts";

const CRASHES_MAX = 2;
const CUTS_MAX = 1;
const WRITES = 2;

export interface ExhaustiveOptions {
  /** Most deviations from the default order in one run. */
  readonly depth: number;
  /** Of the second deviation's places every so-many-th is tried; 1 is all. */
  readonly stride?: number;
}

export interface ExhaustiveResult {
  readonly runs: number;
  readonly steps: number;
  readonly failure: { readonly deviations: readonly Deviation[]; readonly what: string } | undefined;
}

/** Three servers, one client, nothing left to chance. */
function smallPlan(): Plan {
  return {
    ...planOf(1, { voters: 3, observers: 0, clients: 1, only: [] }),
    groups: undefined,
    electionAlg: 3,
    thinkMs: 10,
    delayMsMin: 1,
    delayMsMax: 1,
    syncMsMin: 1,
    syncMsMax: 1,
    counterMax: undefined,
    windowBytes: undefined,
    runBytes: undefined,
  };
}

/**
 * Runs a small ensemble (3 servers, 2 writes) in every way that differs from the default order in at most `depth` places, with at most
 * two crashes and one server cut off. Places are the steps at which a server has completed a write on its disk, or has sent to or heard
 * from its leader or learners.
 */
export async function exploreAll({ depth, stride = 1 }: ExhaustiveOptions): Promise<ExhaustiveResult> {
  const plan = smallPlan();
  let runs = 0;
  let steps = 0;
  let failure: ExhaustiveResult["failure"];
  const visit = async (deviations: readonly Deviation[]): Promise<void> => {
    // Promises of the logs that nobody waits for keep all of a run alive until the event loop has had its turn.
    await new Promise((resolve) => setImmediate(resolve));
    const { points, report } = new Ensemble(plan).runScript(WRITES, deviations);
    runs++;
    // The logs' promises settle, and are let go.
    await Promise.resolve();
    steps += report.steps;
    if (report.violation !== undefined) {
      failure = { deviations, what: report.violation.message };
      return;
    }
    if (deviations.length >= depth) return;
    const last = deviations.at(-1)?.step ?? -1;
    const places = points.filter(({ step }) => step > last);
    const tried = deviations.length === 0 ? places : places.filter((_, i) => i % stride === 0);
    for (const point of tried) {
      for (const kind of kindsAt(point, deviations)) {
        await visit([...deviations, { step: point.step, kind }]);
        if (failure !== undefined) return;
      }
    }
  };
  await visit([]);
  return { runs, steps, failure };
}

function kindsAt({ hasPending }: ChoicePoint, deviations: readonly Deviation[]): readonly DeviationKind[] {
  const kinds: DeviationKind[] = ["later-1", "later-2"];
  const crashes = deviations.filter(({ kind }) => kind === "crash" || kind === "crash-kept").length;
  const cuts = deviations.filter(({ kind }) => kind === "isolate").length;
  if (crashes < CRASHES_MAX) kinds.push("crash");
  if (crashes < CRASHES_MAX && hasPending) kinds.push("crash-kept");
  if (cuts < CUTS_MAX) kinds.push("isolate");
  return kinds;
}

/** The command's form of it. Returns the exit status. */
export async function runExhaustive(options: ExhaustiveOptions): Promise<number> {
  const startMs = performance.now();
  const { runs, steps, failure } = await exploreAll(options);
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.log(`${runs} runs with at most ${options.depth} deviations, ${steps} steps, ${seconds} s`);
  if (failure === undefined) {
    console.log("no violation");
    return 0;
  }
  const lines: string[] = [];
  new Ensemble(smallPlan(), { lines }).runScript(WRITES, failure.deviations);
  console.log(`${failure.what}\n${JSON.stringify(failure.deviations)}\n${lines.slice(-200).join("\n")}`);
  return 1;
}
