/**
 * Cuts the power after each call to the system in a short history of the store, and keeps every
 * subset of the last calls that were not synced; then starts on each disk that this leaves.
 *
 *     npm run tool -- power-cut-calls [--history roll,checkpoint,…] [--recent 6] [--whole-every 50] [--faults 5]
 *                     [--break synchronous-normal|reply-before-sync|no-sync] [--expect-failures]
 *
 * The histories are in power-cut/small-histories.ts: the first start, a roll of the log, a
 * checkpoint, the install of a state and of a history, a reconfiguration. Each start must work
 * without a repair, and find all that was promised before the cut, and nothing that was not asked
 * for by then. `--recent` is how many calls the subsets are of (power-cut/cut-states.ts says what
 * else is kept). Each disk is started by the store's own code in one thread; for one of
 * `--whole-every` a whole store is opened, too.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { breakingEnvironment, isBreaking } from "./power-cut/break-kinds.ts";
import { isSmallHistory, SMALL_HISTORY_NAMES } from "./power-cut/small-histories.ts";
import { recordSmallHistory, tryCuts } from "./power-cut/small-history-cuts.ts";

const { values: options } = parseArgs({
  options: {
    history: { type: "string", default: SMALL_HISTORY_NAMES.join() },
    recent: { type: "string", default: "6" },
    "whole-every": { type: "string", default: "50" },
    faults: { type: "string", default: "5" },
    break: { type: "string" },
    "expect-failures": { type: "boolean", default: false },
  },
});
const RECENT_MAX = 16;
const recentMax = whole("recent", options.recent, 0, RECENT_MAX);
const wholeEvery = whole("whole-every", options["whole-every"], 1, 1_000_000);
const faultMax = whole("faults", options.faults, 1, 1_000_000);
const names = options.history.split(",");
const unknown = names.filter((name) => !isSmallHistory(name));
if (unknown.length > 0) refuse(`--history is some of ${SMALL_HISTORY_NAMES.join(", ")}, found ${unknown.join(", ")}`);
if (options.break !== undefined && !isBreaking(options.break)) refuse(`--break is not "${options.break}"`);

const folder = mkdtempSync(join(tmpdir(), "power-cut-calls-"));
let faultCount = 0;
try {
  for (const name of names.filter(isSmallHistory)) {
    const place = mkdtempSync(join(folder, `${name}-`));
    const recorded = await recordSmallHistory(name, place, breakingEnvironment(options.break));
    const { cuts, cases, disks, faults } = await tryCuts(recorded, join(place, "disk"), {
      recentMax,
      wholeEvery,
      faultMax,
    });
    console.log(`${name}: ${cuts} cuts, ${cases} cases, ${disks} different disks, ${faults.length} faults`);
    for (const fault of faults) console.log(`  ${fault}`);
    faultCount += faults.length;
  }
} finally {
  rmSync(folder, { recursive: true });
}
if (faultCount > 0 !== options["expect-failures"]) process.exitCode = 1;

function whole(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  return refuse(`--${name} is a whole number from ${min} to ${max}, found "${text}"`);
}

function refuse(reason: string): never {
  console.error(reason);
  return process.exit(2);
}
