import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Interpreter } from "../interpreter.ts";

/** Runs the commands that come in as lines, each when the one before has ended, until there are no more or one says quit. */
export async function runScript(input: Readable, interpreter: Interpreter, signal: AbortSignal): Promise<void> {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY, terminal: false });
  try {
    for await (const line of lines) {
      await interpreter.runLine(line, signal);
      if (interpreter.isDone || signal.aborted) break;
    }
  } finally {
    lines.close();
  }
}
