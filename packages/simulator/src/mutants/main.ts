import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { wholeOption } from "../whole-option.ts";
import { allMutants, describeMutant, type Mutant, ROOT, sampleOf } from "./generate.ts";
import { scoreOf } from "./kept-score.ts";
import { countReach, isReached } from "./reach.ts";
import { holdFloor } from "./score-floor.ts";
import { type Caught, tryMutant } from "./try-mutant.ts";

/**
 * `npm run mutate -- --seeds N`: changes the source of zab, election, replica and data-tree, one
 * place at a time, runs up to N seeds against each change, and reports those that no seed notices.
 * Changes at places that none of these seeds reaches are not run.
 *
 * - `--sample N --from SEED`: N of them, the same for the same source
 * - `--only TEXT`: those in files whose path contains the text
 * - `--parallel N`: processes; default 1
 * - `--keep FILE`: keeps the score in a file; fails below that file's floor, which no run changes
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

const seeds = wholeOption("seeds", values.seeds);
const mutants = allMutants().filter(({ file }) => file.includes(values.only));
const count = values.sample === undefined ? mutants.length : wholeOption("sample", values.sample);
const sample = sampleOf(mutants, count, wholeOption("from", values.from));
console.log(`${sample.length} of ${mutants.length} mutations, up to ${seeds} seeds against each`);

const reach = await countReach(sample, 1, seeds);
const [reached, unreached] = [true, false].map((is) => sample.filter((mutant) => isReached(mutant, reach) === is));
const survivors: Mutant[] = [];
const caught: Caught[] = [];
let next = 0;
await Promise.all(Array.from({ length: wholeOption("parallel", values.parallel) }, takeMutants));

const score = scoreOf(caught.length, sample.length);
for (const survivor of survivors) {
  console.log(`\nno seed notices ${describe(survivor)}`);
}
for (const mutant of unreached ?? []) console.log(`\nno seed reaches ${describe(mutant)}`);
console.log(`\n${caught.length} of ${sample.length} noticed, ${unreached?.length ?? 0} not reached: score ${score}`);
if (values.keep !== undefined) {
  const fault = holdFloor(join(ROOT, values.keep), { sample: sample.length, from: Number(values.from), seeds, score });
  if (fault !== undefined) {
    console.error(fault);
    process.exitCode = 1;
  }
}

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
