import { execFile } from "node:child_process";
import { join } from "node:path";

/** What became of a scenario in a process whose source lacks a rule. */
export interface RunWithoutRule {
  readonly isNoticed: boolean;
  readonly text: string;
}

/**
 * Performs a scenario in a process of its own, with one of the mutations of its head in the source. Only an invariant that does not hold
 * or an expectation that is not met counts as noticed; another transcript does not.
 */
export function runWithoutRule(path: string, mutation: number): Promise<RunWithoutRule> {
  const main = join(import.meta.dirname, "main.ts");
  const args = ["--conditions=@zooid/source", main, "--mutation", String(mutation), path];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { timeout: 50_000 }, (error, stdout, stderr) => {
      resolve({ isNoticed: error === null, text: `${stdout}${stderr}`.trim() });
    });
  });
}
