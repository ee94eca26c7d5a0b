import { closeSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import type { StoreError } from "@zooid/txn-log";
import { apacheFilesIn } from "../apache/apache-files.ts";
import { faultOf } from "./guarded.ts";
import { inspectApacheLog, inspectApacheSnapshot } from "./inspect-apache.ts";
import { inspectHistory } from "./inspect-history.ts";
import type { InspectOptions } from "./inspect-options.ts";
import { inspectSegment } from "./inspect-segment.ts";

/**
 * Says what is in files: of the history, segments of the log, and Apache's snapshots and logs. A
 * folder is a data directory of Apache's server, or one that has a history. No file is changed.
 *
 * @param print takes a line
 * @returns what is damaged, or no such file; a sentence each
 */
export async function inspectFiles(
  paths: readonly string[],
  options: InspectOptions,
  print: (line: string) => void,
): Promise<readonly StoreError[]> {
  const faults: StoreError[] = [];
  for (const path of paths) {
    const apache = apacheFilesIn(path);
    for (const file of apache.length > 0 ? apache : [path]) faults.push(...(await inspectPath(file, options, print)));
  }
  return faults;
}

async function inspectPath(
  path: string,
  options: InspectOptions,
  print: (line: string) => void,
): Promise<readonly StoreError[]> {
  const inspect = inspectorOf(path);
  if (inspect === undefined) return inspectHistory([path], options, print);
  try {
    await inspect(path, options, print);
    return [];
  } catch (cause) {
    return [faultOf(path, cause)];
  }
}

type Inspector = (file: string, options: InspectOptions, print: (line: string) => void) => void | Promise<void>;

/** Undefined for a folder, and for what can only be a file of a history. */
function inspectorOf(path: string): Inspector | undefined {
  const [begin, name] = [beginOf(path), basename(path)];
  if (begin === undefined) return undefined;
  if (begin.startsWith("SQLite format 3")) return inspectSegment;
  if (begin.startsWith("ZKLG") || /^log\.[0-9a-f]+$/.test(name)) return inspectApacheLog;
  if (begin.startsWith("ZKSN") || name.startsWith("snapshot.")) return inspectApacheSnapshot;
  return undefined;
}

/** The first bytes of a file. */
function beginOf(file: string): string | undefined {
  try {
    const handle = openSync(file, "r");
    try {
      const bytes = Buffer.alloc(16);
      return bytes.toString("latin1", 0, readSync(handle, bytes));
    } finally {
      closeSync(handle);
    }
  } catch {
    // Its inspection says so.
    return undefined;
  }
}
