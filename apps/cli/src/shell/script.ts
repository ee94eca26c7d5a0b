import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Interpreter } from "../interpreter.ts";

/** Runs commands read as lines, one after another, until there are no more or `quit`. */
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
