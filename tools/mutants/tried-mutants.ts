import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describeMutant, type Mutant, type Mutated, mutantsOf } from "@zooid/simulator/internal/mutants/generate";

/**
 * A mutation that was tried, found again by its lines wherever they stand in the file; those whose
 * lines stand there twice are not kept.
 */
export interface TriedMutant {
  readonly file: string;
  readonly operator: string;
  readonly before: string;
  readonly after: string;
  /** `noticed` by tests; a survivor that is judged `harmless` or `harmful`. */
  readonly outcome: "noticed" | "harmless" | "harmful";
  /** The judgement of a survivor. */
  readonly why?: string;
}

/** @param file JSON with an array */
export function readTried(file: string): readonly TriedMutant[] {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** @param source of the mutation's file */
export function triedAs(mutant: Mutant, source: string): Pick<TriedMutant, "file" | "operator" | "before" | "after"> {
  const [, ...lines] = describeMutant(mutant, source).split("\n");
  const those = (sign: string): string =>
    lines.flatMap((line) => (line.startsWith(sign) ? [line.slice(sign.length).trim()] : [])).join("\n");
  return { file: mutant.file, operator: mutant.operator, before: those("-"), after: those("+") };
}

/**
 * `count` that tests noticed, others for each turn, until all had theirs. Whether a test notices a
 * dropped `await` may depend on time: those have none.
 */
export function inTurn(tried: readonly TriedMutant[], count: number, turn: number): readonly TriedMutant[] {
  const noticed = tried.filter(({ operator, outcome }) => outcome === "noticed" && operator !== "await");
  const some = Math.min(count, noticed.length);
  return Array.from({ length: some }, (_, i) => noticed[(turn * some + i) % noticed.length]).filter(
    (each) => each !== undefined,
  );
}

/**
 * The mutation in today's sources; undefined where its lines are no longer there, or stand there
 * more than once.
 */
export function inSource(tried: TriedMutant, root: string, of: Mutated): Mutant | undefined {
  const path = join(root, tried.file);
  if (!existsSync(path)) return undefined;
  const source = readFileSync(path, "utf8");
  const [found, ...others] = mutantsOf(tried.file, source, of).filter((mutant) =>
    isSame(tried, triedAs(mutant, source)),
  );
  return others.length === 0 ? found : undefined;
}

/** The judgement of a survivor, if it has one. */
export function judgementOf(mutant: Mutant, source: string, tried: readonly TriedMutant[]): TriedMutant | undefined {
  const lines = triedAs(mutant, source);
  return tried.find((each) => each.outcome !== "noticed" && isSame(each, lines));
}

function isSame(a: Omit<TriedMutant, "outcome">, b: Omit<TriedMutant, "outcome">): boolean {
  return a.file === b.file && a.operator === b.operator && a.before === b.before && a.after === b.after;
}
