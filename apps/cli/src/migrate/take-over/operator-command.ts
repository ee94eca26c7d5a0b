/** Runs the operator's own commands, one for each server. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { limitSignal } from "@zooid/client";

export interface OperatorCommandOptions {
  /** As a shell takes it. */
  readonly command: string;
  /** Variables of its environment, beside those of this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly withinMs: number;
  /** Gets each line of its output. */
  line(text: string): void;
}

/** Lines of one command that are printed, and characters of one line. */
const LINES_MAX = 200;
const LINE_CHARS_MAX = 1000;
/** Time for its clean-up. */
const GRACE_MS = 500;

/**
 * Runs a command until it ends. It leads a process group of its own, which is ended with it where
 * its time is over.
 *
 * @returns undefined where it has ended with status 0, else a sentence
 */
export async function runOperatorCommand(options: OperatorCommandOptions): Promise<string | undefined> {
  const { command, env, signal, withinMs } = options;
  if (signal.aborted) return "it was not run: the take-over is interrupted";
  const child = spawn(command, {
    shell: true,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const printed = [child.stdout, child.stderr].map((stream) => printLines(stream, options));
  const timeout = limitSignal(Math.max(1, withinMs));
  let grace: NodeJS.Timeout | undefined;
  const end = (): void => {
    killGroup(child.pid, "SIGTERM");
    grace = setTimeout(() => killGroup(child.pid, "SIGKILL"), GRACE_MS);
  };
  const ending = AbortSignal.any([signal, timeout]);
  ending.addEventListener("abort", end, { once: true });
  try {
    const [status, killedBy]: unknown[] = await once(child, "close");
    await Promise.all(printed);
    if (timeout.aborted) return `it has not ended within ${Math.round(withinMs)} ms`;
    if (signal.aborted) return "it was interrupted";
    if (status === 0) return undefined;
    return typeof status === "number" ? `it has ended with status ${status}` : `it was ended by ${String(killedBy)}`;
  } catch (error) {
    return `it cannot be run: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    clearTimeout(grace);
    ending.removeEventListener("abort", end);
  }
}

async function printLines(stream: Readable, { line }: OperatorCommandOptions): Promise<void> {
  let rest = "";
  let count = 0;
  const print = (text: string): void => {
    if (count++ < LINES_MAX) line(text.slice(0, LINE_CHARS_MAX));
    else if (count === LINES_MAX + 1) line("further lines are left out");
  };
  stream.setEncoding("utf8");
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop()?.slice(0, LINE_CHARS_MAX) ?? "";
    for (const text of lines) print(text);
  }
  if (rest !== "") print(rest);
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  // Without a pid it did not start.
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended in between.
  }
}
