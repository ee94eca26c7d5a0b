import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allMutants, describeMutant, type Mutant, ROOT, sampleOf } from "./generate.ts";
import { countReach, isReached } from "./reach.ts";
import { type Caught, tryMutant } from "./try-mutant.ts";

/**
 * `npm run mutate -- --seeds N`: changes the source of zab, election, replica and data-tree, one
 * place at a time, runs up to N seeds against each change, and reports those that no seed notices.
 * Changes at places that none of these seeds reaches are not run.
 *
 * - `--sample N --from SEED`: N of them, the same for the same source
 * - `--only TEXT`: those in files whose path contains the text
 * - `--parallel N`: processes; default 1
 * - `--keep FILE`: keeps the score in a file; fails where it falls by more than 10 points
 */
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "100" },
    sample: { type: "string" },
    from: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    parallel: { type: "string", default: "1" },
    keep: { type: "string" },
  },
});

/** A score of a small sample moves with the source. */
const POINTS_MAX = 10;

const seeds = whole("seeds", values.seeds);
const mutants = allMutants().filter(({ file }) => file.includes(values.only));
const count = values.sample === undefined ? mutants.length : whole("sample", values.sample);
const sample = sampleOf(mutants, count, whole("from", values.from));
console.log(`${sample.length} of ${mutants.length} mutations, up to ${seeds} seeds against each`);

const reach = await countReach(sample, 1, seeds);
const [reached, unreached] = [true, false].map((is) => sample.filter((mutant) => isReached(mutant, reach) === is));
const survivors: Mutant[] = [];
const caught: Caught[] = [];
let next = 0;
await Promise.all(Array.from({ length: whole("parallel", values.parallel) }, takeMutants));

const score = sample.length === 0 ? 100 : Math.round((1000 * caught.length) / sample.length) / 10;
for (const survivor of survivors) {
  console.log(`\nno seed notices ${describe(survivor)}`);
}
for (const mutant of unreached ?? []) console.log(`\nno seed reaches ${describe(mutant)}`);
console.log(`\n${caught.length} of ${sample.length} noticed, ${unreached?.length ?? 0} not reached: score ${score}`);
if (values.keep !== undefined) keep(join(ROOT, values.keep));

async function takeMutants(): Promise<void> {
  for (let mutant = reached?.[next++]; mutant !== undefined; mutant = reached?.[next++]) {
    const result = await tryMutant(mutant, 1, seeds);
    const { file, line, operator } = mutant;
    const outcome = result === undefined ? "SURVIVES" : `${result.rule} at seed ${result.seed}`;
    console.log(`${file}:${line} ${operator} -> ${JSON.stringify(mutant.text)}: ${outcome}`);
    if (result === undefined) survivors.push(mutant);
    else caught.push(result);
  }
}

function describe(mutant: Mutant): string {
  return describeMutant(mutant, readFileSync(join(ROOT, mutant.file), "utf8"));
}

function keep(file: string): void {
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { score: number }).score : 0;
  const setting = { sample: sample.length, from: Number(values.from), seeds };
  if (score < before - POINTS_MAX) {
    console.error(`the score is ${score}, in ${values.keep} it is ${before}: judge the survivors above`);
    process.exitCode = 1;
  } else writeFileSync(file, `${JSON.stringify({ ...setting, score }, undefined, 2)}\n`);
}

function whole(name: string, text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  console.error(`--${name} is a whole number, found "${text}"`);
  return process.exit(2);
}
