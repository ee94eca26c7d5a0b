import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { syncPath } from "../disk/sync-path.ts";
import { StoreError } from "../store/store-error.ts";

/**
 * The marker of a data directory that an offline command has not finished: durable before anything
 * else is in the directory, and removed last. Without it, a directory whose command was killed
 * could look like a new one, and a server would serve an empty tree.
 */
export const UNFINISHED_FILE = "zooid.unfinished";

/** The facts of a directory with a marker. A marker that cannot be parsed has none, and counts. */
export interface Unfinished {
  /** The command line that makes the directory. */
  readonly command?: string;
  /** The directory of the log, in the marker of the state's directory. */
  readonly logDirectory?: string;
  /** Whether the command made the directory. */
  readonly isMade?: boolean;
}

/** Undefined: there is no marker. */
export function readUnfinished(directory: string): Unfinished | undefined {
  let text: string;
  try {
    text = readFileSync(join(directory, UNFINISHED_FILE), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw error;
  }
  try {
    // Whatever it is, its fields are checked.
    const { command, logDirectory, isMade }: Readonly<Record<string, unknown>> = JSON.parse(text);
    return {
      ...(typeof command === "string" ? { command } : {}),
      ...(typeof logDirectory === "string" ? { logDirectory } : {}),
      isMade: isMade === true,
    };
  } catch {
    // A kill ended its writing.
    return {};
  }
}

/** Throws where an offline command has not finished the directory. */
export function refuseUnfinished(directory: string): void {
  const unfinished = readUnfinished(directory);
  if (unfinished === undefined) return;
  const { command } = unfinished;
  throw new StoreError({ code: "UNFINISHED", directory, ...(command === undefined ? {} : { command }) });
}

/** Durable when it returns. */
export function markUnfinished(directory: string, unfinished: Unfinished): void {
  const handle = openSync(join(directory, UNFINISHED_FILE), "w", 0o600);
  try {
    writeSync(handle, `${JSON.stringify(unfinished)}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  syncPath(directory);
}

/** Durable when it returns. */
export function unmarkUnfinished(directory: string): void {
  rmSync(join(directory, UNFINISHED_FILE), { force: true });
  syncPath(directory);
}
