import { spawn } from "node:child_process";
import { mkdtempDisposableSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Mutant, mutated, ROOT } from "@zooid/simulator/internal/mutants/generate";

/**
 * Ends what the limit to waits does not: a test that does not wait (`tools/waiting`), and a run
 * that does not end. Long, because a test that is slow on a busy machine notices nothing.
 */
const TEST_LIMIT_MS = 120_000;
const LIMIT_MS = 900_000;
const HOOK = join(import.meta.dirname, "mutant-hook.mjs");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

/**
 * Runs test files against a mutation, until one test fails. @returns whether one does, or does not
 * end
 */
export async function isNoticed(mutant: Mutant, tests: readonly string[]): Promise<boolean> {
  using temporary = mkdtempDisposableSync(join(tmpdir(), "zooid-mutant-"));
  const folder = temporary.path;
  const file = join(folder, "mutant.json");
  const source = mutated(readFileSync(join(ROOT, mutant.file), "utf8"), mutant);
  writeFileSync(file, JSON.stringify({ file: mutant.file, source }));
  return (await statusOf(file, tests)) !== 0;
}

function statusOf(mutant: string, tests: readonly string[]): Promise<number | null> {
  const env = { ...process.env, ZOOID_MUTANT: mutant, NODE_OPTIONS: `--import=${HOOK}`, TMPDIR: join(mutant, "..") };
  const limits = [`--testTimeout=${TEST_LIMIT_MS}`, `--hookTimeout=${TEST_LIMIT_MS}`];
  const argv = [VITEST, "run", "--bail", "1", "--maxWorkers", "2", "--reporter", "dot", ...limits, ...tests];
  const child = spawn(process.execPath, argv, { cwd: ROOT, env, stdio: "ignore", detached: true });
  return new Promise((resolve, reject) => {
    // With everything that the tests have started.
    const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), LIMIT_MS);
    child.once("error", reject);
    child.once("exit", (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}
