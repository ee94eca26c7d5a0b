/**
 * The lock-like recipes under faults, each in rounds of contenders: at most one holder at a time,
 * and nothing left behind.
 *
 *     npm run tool -- recipe-rounds [--simulated] [--rounds 30] [--seed 1] [--minutes N] [--recipe NAME]... [--side-by-side 3] [--verbose]
 *
 * Simulated: three servers and all clients in this thread, in virtual time, each round from its own
 * seed. Otherwise: servers' processes that are killed and started again on their data, a round at a
 * time on each, and clients behind relays; what a seed decides is then only what is tried.
 */

import { decimal, eachOf, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { RECIPES } from "@zooid/recipes/testing/contenders";
import type { RoundReport } from "./round.ts";

const options = toolOptions({
  simulated: false,
  rounds: 30,
  seed: 1,
  minutes: decimal(Number.POSITIVE_INFINITY),
  recipe: eachOf(RECIPES.map(({ name }) => name)),
  sideBySide: whole(3, 1),
  verbose: false,
});
const { rounds, sideBySide, seed: firstSeed } = options;
const recipes = RECIPES.filter(({ name }) => options.recipe.includes(name));
const totals = new Map(recipes.map(({ name }) => [name, { rounds: 0, grants: 0, lost: 0, entries: 0, violations: 0 }]));
const faults = new Map<string, number>();
const startMs = Date.now();
const endMs = startMs + 60_000 * options.minutes;
const isEnough = (): boolean => Date.now() >= endMs;

if (options.simulated)
  await (await import("./simulated-rounds.ts")).playSimulated(recipes, { rounds, firstSeed, isEnough, tell });
else await (await import("./real-rounds.ts")).playReal(recipes, { rounds, firstSeed, sideBySide, isEnough, tell });

console.log(`\n${"recipe".padEnd(16)} rounds  grants   lost  guarded writes  violations`);
for (const [name, total] of totals) {
  const columns = [total.rounds, total.grants, total.lost, total.entries, total.violations];
  const text = columns.map((count, i) => String(count).padStart([7, 8, 7, 16, 12][i] ?? 0)).join("");
  console.log(`${name.padEnd(16)}${text}`);
}
console.log(`faults: ${[...faults].map(([kind, count]) => `${count} ${kind}`).join(", ")}`);
console.log(`${Math.round((Date.now() - startMs) / 1000)} s`);
const violations = [...totals.values()].reduce((sum, total) => sum + total.violations, 0);
if (violations > 0) process.exitCode = 1;
// Real sockets may hold the process.
process.exit();

function tell(recipe: string, seed: number, report: RoundReport): void {
  const total = totals.get(recipe);
  if (total === undefined) return;
  total.rounds++;
  total.grants += report.grants;
  total.lost += report.lost;
  total.entries += report.entries;
  total.violations += report.violations.length;
  for (const fault of report.faults) faults.set(fault, (faults.get(fault) ?? 0) + 1);
  if (options.verbose) console.log(`${recipe} seed ${seed}: ${report.grants} grants, ${report.faults.join(" ")}`);
  for (const violation of report.violations) console.log(`VIOLATION ${recipe} seed ${seed}: ${violation}`);
}
