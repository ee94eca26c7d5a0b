import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AccessFault, accessProblem } from "./access-fault.ts";

/** Files of a store; others in the directory, such as `myid`, need not be written. */
const OWN_FILE = /^(?:log[-.]|state-|zooid\.|witness|reserve)/;

/**
 * The reason why this process cannot keep a store in a directory, which may not exist yet.
 * Undefined where it can, as far as that is known without writing.
 */
export function directoryFault(directory: string): AccessFault | undefined {
  const place = nearest(directory);
  if (place === directory) return fileFault(directory) ?? storedFault(directory);
  const fault = fileFault(place) ?? accessProblem(place, "write");
  if (fault === undefined) return undefined;
  return { reason: `it does not exist and cannot be made: ${fault.reason}`, remedy: fault.remedy };
}

/**
 * The reason why this process cannot use a directory that exists, or one of a store's files in it.
 * SQLite does not name the file that it cannot open, nor the reason.
 */
export function storedFault(directory: string): AccessFault | undefined {
  const fault = accessProblem(directory, "read and write");
  if (fault !== undefined || kindOf(directory) !== "directory") return fault;
  for (const name of readdirSync(directory)) {
    if (!OWN_FILE.test(name)) continue;
    const found = accessProblem(join(directory, name), "read and write", directory);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The directory, or the first one above it that exists. */
export function nearest(directory: string): string {
  const parent = dirname(directory);
  return parent === directory || kindOf(directory) !== undefined ? directory : nearest(parent);
}

/** `unseen`: this process cannot look at it. */
type PathKind = "directory" | "other" | "unseen";

function kindOf(path: string): PathKind | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return stats.isDirectory() ? "directory" : "other";
  } catch {
    return "unseen";
  }
}

function fileFault(place: string): AccessFault | undefined {
  if (kindOf(place) !== "other") return undefined;
  return {
    reason: `${place} is no directory`,
    remedy: `name another directory, or move the file away (mv ${place} ${place}.old)`,
  };
}
