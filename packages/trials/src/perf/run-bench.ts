/** Runs `zooid-bench` beside a measurement and reads its result. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";
import type { CompareResult, RunResult } from "zooid-bench/internal/results/result";

/** Throws with what it said where it did not end well. */
async function bench(args: readonly string[]): Promise<unknown> {
  const child = spawn(join(ROOT, "apps/bench/bin/zooid-bench.cjs"), [...args, "--json", "-", "--quiet"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  try {
    return JSON.parse(output);
  } catch (cause) {
    throw new Error(`zooid-bench ${args.join(" ")}: ${errors}`, { cause });
  }
}

export async function runBench(...args: readonly string[]): Promise<RunResult> {
  return (await bench(args)) as RunResult;
}

export async function compareBench(...args: readonly string[]): Promise<CompareResult> {
  return (await bench(["compare", ...args])) as CompareResult;
}
