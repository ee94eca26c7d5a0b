/**
 * Gives damaged input to everything that reads what strangers send, and looks for crashes, hangs
 * and growth.
 *
 *     npm run fuzz -- [--seconds 60] [--target NAME] [--seed N]
 *     npm run fuzz -- --target NAME --input FILE      tries what was kept again
 *
 * The seconds are shared by the targets. Each runs in a process of its own. What is found is kept
 * below `.cache/fuzz`.
 */
import { fork } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { decimal, maybeOneOf, text, toolOptions } from "@zooid/conformance/internal/tool-options";
import { TARGETS } from "./targets.ts";

/** Inputs are short: a look's worth of them takes milliseconds. */
const HANG_MS = 30_000;
const HEAP_BYTES_MAX = 512 * 1024 * 1024;
const FOLDER = join(import.meta.dirname, "../../../../.cache/fuzz");

const names = TARGETS.map(({ name }) => name);
const values = toolOptions({
  seconds: decimal(60),
  target: maybeOneOf(names),
  seed: Date.now() % 2 ** 31,
  input: text,
});
const { seconds, seed } = values;

if (values.input !== undefined) {
  if (values.target === undefined) {
    console.error("--input needs --target, whose input it is");
    process.exit(2);
  }
  process.exitCode = await runProcess([values.target, "--input", values.input], "");
} else {
  const chosen = values.target === undefined ? names : [values.target];
  let findings = 0;
  for (const name of chosen) {
    const file = join(FOLDER, `${name}-${seed}.bin`);
    const code = await runProcess([name, String(seconds / chosen.length), String(seed)], file);
    if (code === 0) rmSync(file, { force: true });
    else findings++;
    if (code !== 0 && existsSync(file)) {
      console.log(`${name}: seed ${seed}; the input, or those of which it was one, is in ${file}`);
      console.log(`again: npm run fuzz -- --target ${name} --input ${file}`);
    }
  }
  console.log(`${chosen.length} targets, ${findings} findings`);
  if (findings > 0) process.exitCode = 1;
}

function runProcess(args: readonly string[], file: string): Promise<number> {
  const [name] = args;
  const child = fork(join(import.meta.dirname, "fuzz-one.ts"), args, {
    execArgv: ["--conditions=@zooid/source"],
    env: { ...process.env, FUZZ_INPUT: file },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  child.stdout?.setEncoding("utf8").on("data", (text: string) => console.log(`${name}: ${text.trimEnd()}`));
  const stop = (reason: string): void => {
    console.log(`${name}: ${reason}`);
    child.kill("SIGKILL");
  };
  let timer = setTimeout(() => stop("hangs"), HANG_MS);
  child.on("message", ({ heapBytes }: { readonly heapBytes: number }) => {
    clearTimeout(timer);
    timer = setTimeout(() => stop("hangs"), HANG_MS);
    if (heapBytes > HEAP_BYTES_MAX) stop(`grows: ${Math.round(heapBytes / 2 ** 20)} MiB of heap`);
  });
  return new Promise((resolve) => {
    child.on("exit", (code) => {
      clearTimeout(timer);
      resolve(code ?? 1);
    });
  });
}
