/**
 * Changes the sources around the replication, those of every package but the ones that test and
 * measure, one place at a time, and runs the test files that import the changed file, the nearest
 * first. Reports the changes that no test notices.
 *
 *     npm run tool -- mutate-tests [--sample 100] [--from SEED] [--only TEXT] [--tests 40] [--parallel 1] [--keep FILE] [--record]
 *     npm run tool -- mutate-tests --tried 8 --turn NUMBER
 *
 *     npm run tool -- mutate-tests --untested
 *
 * - `--sample N --from SEED`: N of them, the same for the same source
 * - `--only TEXT`: those in files whose path contains the text
 * - `--tests N`: at most N test files of the fast tier for each mutation
 * - `--keep FILE`: keeps the score by package; fails where it is below the floor that the file has
 * - `--record`: the sample is what tried-mutants.json names from now on, with the judgements that
 *   it has; the others are to be judged there
 * - `--tried N --turn NUMBER`: N of those in tried-mutants.json that tests noticed, others for each
 *   number; fails where one survives
 * - `--untested`: lists the files that no test imports itself, the farthest first, with the number
 *   of their mutations
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { allMutants, describeMutant, type Mutant, ROOT, sampleOf } from "@zooid/simulator/internal/mutants/generate";
import { scoreOf } from "@zooid/simulator/internal/mutants/kept-score";
import { holdFloor } from "@zooid/simulator/internal/mutants/score-floor";
import { ImportingTests, packageOf } from "./importing-tests.ts";
import { AROUND } from "./surroundings.ts";
import { inSource, inTurn, judgementOf, readTried, type TriedMutant, triedAs } from "./tried-mutants.ts";
import { isNoticed } from "./try-mutant.ts";

const options = toolOptions({
  sample: 100,
  from: 1,
  only: "",
  tests: 40,
  parallel: 1,
  keep: text,
  record: false,
  tried: whole(undefined),
  turn: 1,
  untested: false,
});

/** The nearest tests notice most mutations: the others run where these pass. */
const NEAREST = 4;
const TRIED_FILE = join(import.meta.dirname, "tried-mutants.json");

interface Score {
  noticed: number;
  tried: number;
}

const tests = globSync(["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts"], { cwd: ROOT }).sort();
const importing = new ImportingTests(ROOT, tests);
if (options.untested) {
  for (const line of untested()) console.log(line);
  process.exit();
}
const tried = readTried(TRIED_FILE);
const sample = options.tried === undefined ? newSample() : triedBefore(options.tried);
const scores = new Map<string, Score>();
const survivors: Mutant[] = [];
let harmlessCount = 0;
let next = 0;
await Promise.all(Array.from({ length: options.parallel }, takeMutants));

for (const survivor of survivors) {
  const source = readFileSync(join(ROOT, survivor.file), "utf8");
  const { outcome, why } = judgementOf(survivor, source, tried) ?? { outcome: "not judged" };
  console.log(
    `\nno test notices ${describeMutant(survivor, source)}\n${outcome}${why === undefined ? "" : `: ${why}`}`,
  );
}
const noticed = sample.length - survivors.length;
const score = scoreOf(noticed, sample.length - harmlessCount);
for (const [name, { noticed, tried }] of [...scores].sort()) console.log(`${name}: ${noticed} of ${tried}`);
console.log(`${noticed} of ${sample.length} noticed, ${harmlessCount} harmless: score ${score}`);
if (options.keep !== undefined) {
  const packages = Object.fromEntries([...scores].sort());
  const facts = { sample: sample.length, from: options.from, score, packages };
  const low = holdFloor(join(ROOT, options.keep), facts);
  if (low !== undefined) console.error(low);
  if (low !== undefined) process.exitCode = 1;
}
if (options.record) record();
if (options.tried !== undefined && survivors.length > 0) process.exitCode = 1;

function untested(): readonly string[] {
  const mutants = Map.groupBy(allMutants(AROUND), ({ file }) => file);
  return [...mutants]
    .map(([file, { length }]) => ({ file, length, distance: importing.distanceTo(file) }))
    .filter(({ file, distance }) => distance > 1 && file.includes(options.only))
    .sort((a, b) => b.distance - a.distance || b.length - a.length)
    .map(({ file, length, distance }) => `${file}: ${length} mutations, a test imports it over ${distance - 1}`);
}

function newSample(): readonly Mutant[] {
  const mutants = allMutants(AROUND).filter(({ file }) => file.includes(options.only));
  const sample = sampleOf(mutants, options.sample, options.from);
  console.log(`${sample.length} of ${mutants.length} mutations`);
  return sample;
}

/** Those whose lines have changed since are no longer there. */
function triedBefore(count: number): readonly Mutant[] {
  const those = inTurn(tried, count, options.turn);
  const found = those.flatMap((each) => inSource(each, ROOT, AROUND) ?? []);
  console.log(`again: npm run tool -- mutate-tests --tried ${count} --turn ${options.turn}`);
  console.log(`${found.length} of ${those.length} mutations that tests noticed`);
  return found;
}

async function takeMutants(): Promise<void> {
  for (let mutant = sample[next++]; mutant !== undefined; mutant = sample[next++]) {
    const { file, line, operator, text } = mutant;
    const nearest = importing.of(file).slice(0, options.tests);
    const startMs = performance.now();
    const isFound = await isNoticedBy(mutant, nearest);
    const outcome = isFound ? "noticed" : `SURVIVES ${nearest.length} files`;
    console.log(
      `${file}:${line} ${operator} -> ${JSON.stringify(text)}: ${outcome}, ${Math.round((performance.now() - startMs) / 1000)} s`,
    );
    if (!isFound) survivors.push(mutant);
    if (!isFound && isHarmless(mutant)) {
      harmlessCount++;
      continue;
    }
    const name = packageOf(file);
    const { noticed, tried } = scores.get(name) ?? { noticed: 0, tried: 0 };
    scores.set(name, { noticed: noticed + (isFound ? 1 : 0), tried: tried + 1 });
  }
}

async function isNoticedBy(mutant: Mutant, files: readonly string[]): Promise<boolean> {
  for (const some of [files.slice(0, NEAREST), files.slice(NEAREST)]) {
    if (some.length > 0 && (await isNoticed(mutant, some))) return true;
  }
  return false;
}

function isHarmless(mutant: Mutant): boolean {
  return judgementOf(mutant, readFileSync(join(ROOT, mutant.file), "utf8"), tried)?.outcome === "harmless";
}

function record(): void {
  const outcomes = sample.flatMap((mutant): readonly TriedMutant[] => {
    const source = readFileSync(join(ROOT, mutant.file), "utf8");
    const outcome = outcomeOf(mutant, source);
    return inSource(outcome, ROOT, AROUND) === undefined ? [] : [outcome];
  });
  writeFileSync(TRIED_FILE, `${JSON.stringify(outcomes, undefined, 2)}\n`);
}

function outcomeOf(mutant: Mutant, source: string): TriedMutant {
  if (!survivors.includes(mutant)) return { ...triedAs(mutant, source), outcome: "noticed" };
  const judged = judgementOf(mutant, source, tried);
  return judged ?? { ...triedAs(mutant, source), outcome: "harmful", why: "not judged yet" };
}
