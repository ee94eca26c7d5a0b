import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Interpreter } from "../interpreter.ts";

export interface ScriptOptions {
  readonly signal: AbortSignal;
  /** Whether the first command that fails is the last one. */
  readonly stopsOnError: boolean;
}

/** Runs commands read as lines, one after another, until there are no more or `quit`. */
export async function runScript(input: Readable, interpreter: Interpreter, options: ScriptOptions): Promise<void> {
  const { signal, stopsOnError } = options;
  let isFirst = true;
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY, terminal: false });
  try {
    for await (const line of lines) {
      // Editors may write a byte-order mark.
      await interpreter.runLine(isFirst ? line.replace(/^\uFEFF/, "") : line, signal);
      isFirst = false;
      if (interpreter.isDone || signal.aborted || (stopsOnError && interpreter.failureStatus !== 0)) break;
    }
  } finally {
    lines.close();
  }
}
