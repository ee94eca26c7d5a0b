import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { installMutation } from "../mutations/mutate-source.ts";
import { parseScenario } from "./scenario-file.ts";

/**
 * `node --conditions=@zooid/source scenarios/main.ts [--update] FILES`: performs scenarios; ends
 * with 1 when one fails or its transcript is not what it was. `--mutation N` performs one with the
 * N-th mutation of its head in the source, and ends with 1 when the scenario still passes;
 * `--mutations` does so with every mutation of every file.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { update: { type: "boolean" }, mutation: { type: "string" }, mutations: { type: "boolean" } },
});
if (values.mutations === true) process.exitCode = await runEveryMutation();
else if (values.mutation === undefined) process.exitCode = await runAll();
else process.exitCode = await runMutated(Number(values.mutation));

async function runEveryMutation(): Promise<number> {
  const { runWithoutRule } = await import("./run-without-rule.ts");
  let unnoticed = 0;
  for (const path of positionals) {
    for (let i = 0; i < parseScenario(readFileSync(path, "utf8")).mutations.length; i++) {
      const { isNoticed, text } = await runWithoutRule(path, i);
      if (!isNoticed) unnoticed++;
      console.log(`${basename(path, ".txt")}: ${text}`);
    }
  }
  return unnoticed === 0 ? 0 : 1;
}

async function runAll(): Promise<number> {
  const { runScenario } = await import("./run-scenario.ts");
  let failed = 0;
  for (const path of positionals) {
    const text = readFileSync(path, "utf8");
    try {
      const now = runScenario(text);
      if (values.update === true) writeFileSync(path, now);
      else if (now !== text) throw new Error("its transcript has changed: see what --update makes of it");
    } catch (error) {
      failed++;
      console.error(`${path}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return failed === 0 ? 0 : 1;
}

async function runMutated(number: number): Promise<number> {
  const [path = ""] = positionals;
  const text = readFileSync(path, "utf8");
  const mutation = parseScenario(text).mutations[number];
  if (mutation === undefined) throw new RangeError(`${path} has no mutation ${number}`);
  installMutation(mutation);
  const { runScenario, ScenarioFailure } = await import("./run-scenario.ts");
  try {
    runScenario(text);
  } catch (error) {
    if (!(error instanceof ScenarioFailure)) throw error;
    // A mutation that is not valid code always fails, which shows nothing.
    const { cause } = error;
    if (cause instanceof ReferenceError || cause instanceof SyntaxError || cause instanceof TypeError) throw cause;
    console.log(`without ${mutation.name}: ${error.message}`);
    return 0;
  }
  console.error(`without ${mutation.name}: not noticed`);
  return 1;
}
