/**
 * Runs the same random conversations on Apache ZooKeeper and on zooid-server, and compares every
 * packet.
 *
 *     npm run tool -- differential --seeds N [--from S] [--requests 200] [--golden]
 *
 * A script that differs is shortened; then its seed, the shortest script and both transcripts are
 * printed. `--golden` records Apache's answers to the seeds of `transcripts/differential` instead,
 * which `npm test` compares without Java.
 */
import { printDiff } from "../diff.ts";
import { toolOptions } from "../tool-options.ts";
import { writeGolden } from "./golden.ts";
import { randomScript } from "./random-script.ts";
import { describe, type Script } from "./script.ts";
import { type Conversation, isEqual, ServerPair } from "./server-pair.ts";
import { shrinkScript } from "./shrink-script.ts";

/**
 * After this number of scripts the servers are replaced: remains of earlier ones slow down later
 * ones.
 */
const SCRIPTS_PER_SERVER = 250;
const SHRINK_TRIES_MAX = 150;
const CONTEXT_LINES = 4;
const LINES_SHOWN = 60;

const options = toolOptions({ seeds: 20, from: 1, requests: 200, golden: false });

function wholeNumber(name: "seeds" | "from" | "requests"): number {
  const value = Number(options[name]);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  console.error(`--${name} is a whole number from 1 on, not ${options[name]}`);
  process.exit(2);
}

if (options.golden) await writeGolden();
else await run();

async function run(): Promise<void> {
  const [count, from, requests] = [wholeNumber("seeds"), wholeNumber("from"), wholeNumber("requests")];
  let differences = 0;
  let pair: ServerPair | undefined;
  try {
    for (let i = 0; i < count; i++) {
      const script = randomScript(from + i, requests);
      if (i % SCRIPTS_PER_SERVER === 0) {
        await pair?.[Symbol.asyncDispose]();
        pair = undefined;
      }
      pair ??= await ServerPair.start();
      if (i % SCRIPTS_PER_SERVER === 0 && i > 0) console.log(`${i} scripts, ${differences} differences so far`);
      const conversation = await pair.converse(script, `/s${script.seed}`);
      if (isEqual(conversation)) continue;
      differences++;
      await pair[Symbol.asyncDispose]();
      pair = undefined;
      await explain(script, conversation);
    }
  } finally {
    await pair?.[Symbol.asyncDispose]();
  }
  console.log(`${count} scripts, ${differences} unexplained differences`);
  if (differences > 0) process.exitCode = 1;
}

/** Shortens a script on servers of its own and prints the result. */
async function explain(script: Script, found: Conversation): Promise<void> {
  await using pair = await ServerPair.start();
  let place = 0;
  const converse = (candidate: Script) => pair.converse(candidate, `/r${place++}`);
  const differs = async (candidate: Script): Promise<boolean> => !isEqual(await converse(candidate));
  if (!(await differs(script))) {
    console.log(`seed ${script.seed} DIFFERS, but not on new servers: it depends on what came before it, or on timing`);
    printDifference(found);
    return;
  }
  const shortest = await shrinkScript(script, differs, SHRINK_TRIES_MAX);
  console.log([`seed ${script.seed} DIFFERS`, ...describe(shortest).map((line) => `    ${line}`)].join("\n"));
  printDifference(await converse(shortest));
}

function printDifference({ apache, zooid }: Conversation): void {
  const difference = printDiff(apache, zooid, CONTEXT_LINES);
  // If neither server answered, the error messages.
  const lines = difference === "" ? apache.slice(-LINES_SHOWN / 4) : difference.split("\n").slice(0, LINES_SHOWN);
  console.log(["  (- apache, + zooid)", ...lines.map((line) => `  ${line}`)].join("\n"));
}
