/**
 * Gives random configuration files to Apache ZooKeeper and to Zooid, and compares whether each
 * starts and which values are in force. Apache's own parser reads all files in one Java machine.
 * Each class of difference is a row of docs/differences.md; a difference of no class ends the run
 * with status 1, with its seed and its files.
 *
 *     npm run tool -- config-differential [--files 300] [--from 1] [--live] [--record]
 *
 * `--live` starts both servers with five of the recorded files, and compares the answers of their
 * admin ports and which ports listen. `--record` writes Apache's answers to the files of the first
 * seeds to records.json, which the tests replay without Java.
 */
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchApacheJars } from "@zooid/conformance/internal/clients";
import { toolOptions } from "@zooid/conformance/internal/tool-options";
import { apacheOutcome, askApache } from "./apache-outcome.ts";
import { compare, printUnexplained } from "./comparison.ts";
import { compareLive } from "./live-comparison.ts";
import { randomConfiguration } from "./random-configuration.ts";
import { RECORD_COUNT, writeRecords } from "./records.ts";

const options = toolOptions({ files: 300, from: 1, live: false, record: false });

const count = options.record ? RECORD_COUNT : options.files;
const from = options.record ? 1 : options.from;
const jars = fetchApacheJars();
using temporary = mkdtempDisposableSync(join(tmpdir(), "config-differential-"));
const root = temporary.path;
const isSame = options.live ? await compareLive(root, jars) : compareParsed();
process.exitCode = isSame ? 0 : 1;

function compareParsed(): boolean {
  const cases = Array.from({ length: count }, (_, i) => randomConfiguration(from + i));
  const answers = askApache(cases, root, jars);
  const pairs = cases.map((configuration, i) => ({ configuration, answer: answers[i] ?? {} }));
  if (options.record) writeRecords(pairs);
  const { classes, unexplained, refusedByBoth } = compare(pairs, root);
  for (const [row, times] of [...classes].toSorted(([, a], [, b]) => b - a))
    console.log(`${String(times).padStart(6)}  ${row}`);
  printUnexplained(unexplained);
  const started = answers.filter((answer) => apacheOutcome(answer).kind === "starts").length;
  console.log(
    `${count} files: Apache's server starts with ${started}, both refuse ${refusedByBoth}; ${classes.size} classes of intended differences, ${unexplained.length} others`,
  );
  return unexplained.length === 0;
}
