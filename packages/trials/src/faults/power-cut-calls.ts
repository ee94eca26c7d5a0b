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
import { mkdtempDisposableSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { someOf, toolOptions, whole } from "@zooid/conformance/internal/tool-options";
import { BREAK_OPTION, breakingEnvironment } from "./power-cut/break-kinds.ts";
import { SMALL_HISTORY_NAMES } from "./power-cut/small-histories.ts";
import { recordSmallHistory, tryCuts } from "./power-cut/small-history-cuts.ts";

const options = toolOptions({
  history: someOf(SMALL_HISTORY_NAMES),
  recent: whole(6, 0, 16),
  wholeEvery: whole(50, 1),
  faults: whole(5, 1),
  break: BREAK_OPTION,
  expectFailures: false,
});

using temporary = mkdtempDisposableSync(join(tmpdir(), "power-cut-calls-"));
const folder = temporary.path;
let faultCount = 0;
for (const name of options.history) {
  const place = mkdtempSync(join(folder, `${name}-`));
  const recorded = await recordSmallHistory(name, place, breakingEnvironment(options.break));
  const { cuts, cases, disks, faults } = await tryCuts(recorded, join(place, "disk"), {
    recentMax: options.recent,
    wholeEvery: options.wholeEvery,
    faultMax: options.faults,
  });
  console.log(`${name}: ${cuts} cuts, ${cases} cases, ${disks} different disks, ${faults.length} faults`);
  for (const fault of faults) console.log(`  ${fault}`);
  faultCount += faults.length;
}
if (faultCount > 0 !== options.expectFailures) process.exitCode = 1;
