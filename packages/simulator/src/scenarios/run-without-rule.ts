import { execFile } from "node:child_process";
import { join } from "node:path";

/** The outcome of a scenario whose source lacks a rule. */
export interface RunWithoutRule {
  readonly isNoticed: boolean;
  readonly text: string;
}

/**
 * Performs a scenario in its own process, with one of the mutations of its head in the source. Only
 * a violated invariant or an expectation that is not met counts as noticed; a different transcript
 * does not.
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
