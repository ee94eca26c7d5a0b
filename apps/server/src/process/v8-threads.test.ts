import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lowerV8Threads } from "./v8-threads.ts";

const MODULE = new URL("v8-threads.ts", import.meta.url).href;

/** Niceness of each thread of a new process, with its name, after `calls`. */
function threadsAfter(calls: string): readonly (readonly [name: string, niceness: number])[] {
  const script = `
    import { readdirSync, readFileSync } from "node:fs";
    import { getPriority } from "node:os";
    import { lowerV8Threads } from ${JSON.stringify(MODULE)};
    ${calls}
    const threads = "/proc/self/task";
    const name = (id) => readFileSync(threads + "/" + id + "/comm", "utf8").trim();
    console.log(JSON.stringify(readdirSync(threads).map((id) => [name(id), getPriority(Number(id))])));`;
  const options = ["--conditions=@zooid/source", "--no-warnings", "--input-type=module"];
  const { stdout } = spawnSync("nice", ["-n", "1", process.execPath, ...options, "-e", script], { encoding: "utf8" });
  return JSON.parse(stdout) as readonly (readonly [string, number])[];
}

test("only V8's threads have a lower priority afterwards", () => {
  const before = threadsAfter("");
  const isV8 = ([name]: readonly [string, number]): boolean => name === "V8Worker";
  const after = threadsAfter("lowerV8Threads(); lowerV8Threads();");
  expect(before.some(isV8)).toBe(true);
  expect(new Set(after.filter(isV8).map(([, niceness]) => niceness))).toEqual(
    new Set([Math.max(5, getPriority() + 1)]),
  );
  const others = (threads: typeof after): number[] => threads.filter((each) => !isV8(each)).map(([, nice]) => nice);
  expect(new Set(others(after))).toEqual(new Set(others(before)));
});

test("a system without a list of threads, and one that refuses, do not keep a server from starting", () => {
  const directory = mkdtempSync(join(tmpdir(), "threads-"));
  try {
    lowerV8Threads(join(directory, "missing"));
    // No system has a thread of this number.
    mkdirSync(join(directory, "999999999"));
    writeFileSync(join(directory, "999999999/comm"), "V8Worker\n");
    lowerV8Threads(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
