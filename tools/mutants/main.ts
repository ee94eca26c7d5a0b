/**
 * Changes the sources around the replication (txn-log, server, console, client, recipes, zooid-server, zooid-cli), one place at a time, and runs the
 * test files that import the changed file, the nearest first. Reports the changes that no test notices.
 *
 *     npm run tool -- mutate-tests [--sample 100] [--from SEED] [--only TEXT] [--tests 40] [--parallel 1] [--keep FILE]
 *
 * - `--sample N --from SEED`: N of them, the same for the same source
 * - `--only TEXT`: those in files whose path contains the text
 * - `--tests N`: at most N test files of the fast tier for each mutation
 * - `--keep FILE`: keeps the score by package; fails where it falls by more than 10 points
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  allMutants,
  describeMutant,
  type Mutant,
  ROOT,
  SURROUNDINGS,
  sampleOf,
} from "../../packages/simulator/src/mutants/generate.ts";
import { ImportingTests, packageOf } from "./importing-tests.ts";
import { isNoticed } from "./try-mutant.ts";

const { values: options } = parseArgs({
  options: {
    sample: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    tests: { type: "string", default: "40" },
    parallel: { type: "string", default: "1" },
    keep: { type: "string" },
  },
});

/** The nearest tests notice most mutations: the others run where these pass. */
const NEAREST = 4;
/** A score of a small sample moves with the source. */
const POINTS_MAX = 10;

interface Score {
  noticed: number;
  tried: number;
}

const tests = globSync(["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts"], { cwd: ROOT })
  .filter((file) => !file.endsWith(".slow.test.ts"))
  .sort();
const importing = new ImportingTests(ROOT, tests);
const mutants = allMutants(SURROUNDINGS).filter(({ file }) => file.includes(options.only));
const sample = sampleOf(mutants, whole("sample", options.sample), whole("from", options.from));
console.log(`${sample.length} of ${mutants.length} mutations`);
const scores = new Map<string, Score>();
const survivors: Mutant[] = [];
let next = 0;
await Promise.all(Array.from({ length: whole("parallel", options.parallel) }, takeMutants));

for (const survivor of survivors) {
  console.log(`\nno test notices ${describeMutant(survivor, readFileSync(join(ROOT, survivor.file), "utf8"))}`);
}
const noticed = sample.length - survivors.length;
const score = Math.round((1000 * noticed) / Math.max(1, sample.length)) / 10;
for (const [name, { noticed, tried }] of [...scores].sort()) console.log(`${name}: ${noticed} of ${tried}`);
console.log(`${noticed} of ${sample.length} noticed: score ${score}`);
if (options.keep !== undefined) keep(join(ROOT, options.keep));

async function takeMutants(): Promise<void> {
  for (let mutant = sample[next++]; mutant !== undefined; mutant = sample[next++]) {
    const { file, line, operator, text } = mutant;
    const nearest = importing.of(file).slice(0, whole("tests", options.tests));
    const startMs = performance.now();
    const isFound = await isNoticedBy(mutant, nearest);
    const outcome = isFound ? "noticed" : `SURVIVES ${nearest.length} files`;
    console.log(
      `${file}:${line} ${operator} -> ${JSON.stringify(text)}: ${outcome}, ${Math.round((performance.now() - startMs) / 1000)} s`,
    );
    const name = packageOf(file);
    const { noticed, tried } = scores.get(name) ?? { noticed: 0, tried: 0 };
    scores.set(name, { noticed: noticed + (isFound ? 1 : 0), tried: tried + 1 });
    if (!isFound) survivors.push(mutant);
  }
}

async function isNoticedBy(mutant: Mutant, files: readonly string[]): Promise<boolean> {
  for (const some of [files.slice(0, NEAREST), files.slice(NEAREST)]) {
    if (some.length > 0 && (await isNoticed(mutant, some))) return true;
  }
  return false;
}

function keep(file: string): void {
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { score: number }).score : 0;
  if (score < before - POINTS_MAX) {
    console.error(`the score is ${score}, in ${options.keep} it is ${before}: judge the survivors above`);
    process.exitCode = 1;
    return;
  }
  const setting = { sample: sample.length, from: whole("from", options.from), score };
  writeFileSync(
    file,
    `${JSON.stringify({ ...setting, packages: Object.fromEntries([...scores].sort()) }, undefined, 2)}\n`,
  );
}

function whole(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  console.error(`--${name} is a whole number, found "${text}"`);
  return process.exit(2);
}
