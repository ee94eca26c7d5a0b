import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runScenario } from "./run-scenario.ts";

const directory = join(import.meta.dirname, "../../scenarios");
/** `UPDATE=1` rewrites the transcripts, to be reviewed as a diff. */
const isUpdating = process.env["UPDATE"] === "1";

/** They run hundreds of ensembles each. */
const SLOW: readonly string[] = ["even-ensemble-tolerates-no-more.txt"];

export function scenarioNames(tier: "fast" | "slow"): readonly string[] {
  const names = readdirSync(directory).filter((name) => name.endsWith(".txt"));
  return names.filter((name) => SLOW.includes(name) === (tier === "slow"));
}

/** A scenario as it is stored, and as it runs now. */
export function scenarioTexts(name: string): { readonly written: string; readonly now: string } {
  const path = join(directory, name);
  const written = readFileSync(path, "utf8");
  const now = runScenario(written);
  if (!isUpdating) return { written, now };
  writeFileSync(path, now);
  return { written: now, now };
}
