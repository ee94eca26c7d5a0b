import { closeSync, fdatasyncSync, openSync, readFileSync, realpathSync, rmSync, statfsSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DirectoryFacts } from "@zooid/doctor";

const SYNC_COUNT = 100;
/** A disk that is this slow has shown it by then. */
const SYNCS_MS_MAX = 2_000;
const BLOCK_BYTES = 4096;
const TEST_FILE = "zooid-check.tmp";

/** A directory's file system and room, and how long a synced write takes there. */
export function directoryFacts(path: string, uses: readonly string[], missing: string[]): DirectoryFacts {
  const there = nearestDirectory(path);
  const space = spaceOf(there, missing);
  return { path, uses, fileSystem: fileSystemOf(there), ...space, syncMs: syncTimes(path, missing) };
}

/** The server makes its directories at its first start: until then their parent decides. */
function nearestDirectory(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : nearestDirectory(parent);
  }
}

function spaceOf(path: string, missing: string[]): Pick<DirectoryFacts, "bytes" | "freeBytes"> {
  try {
    const { bsize, blocks, bavail } = statfsSync(path);
    return { bytes: bsize * blocks, freeBytes: bsize * bavail };
  } catch (error) {
    missing.push(`the room in ${path}: ${messageOf(error)}`);
    return { bytes: undefined, freeBytes: undefined };
  }
}

/** The type of the mount with the longest path above it; undefined where there is no /proc. */
function fileSystemOf(path: string): string | undefined {
  let mounts: string;
  try {
    mounts = readFileSync("/proc/mounts", "utf8");
  } catch {
    return undefined;
  }
  let found: { readonly at: string; readonly type: string } | undefined;
  for (const line of mounts.split("\n")) {
    const [, at = "", type = ""] = line.split(" ").map(unescaped);
    const isAbove = at === "/" || path === at || path.startsWith(`${at}/`);
    // Of two mounts at one place the later one is seen.
    if (at !== "" && isAbove && (found === undefined || at.length >= found.at.length)) found = { at, type };
  }
  return found?.type;
}

/** Blanks in paths stand there as `\040`. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function syncTimes(path: string, missing: string[]): readonly number[] {
  const file = join(path, TEST_FILE);
  const times: number[] = [];
  const block = Buffer.alloc(BLOCK_BYTES, 1);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "w", 0o600);
    const beginMs = performance.now();
    while (times.length < SYNC_COUNT && performance.now() - beginMs < SYNCS_MS_MAX) {
      const startMs = performance.now();
      // Over the same blocks, as a segment that is used again.
      writeSync(descriptor, block, 0, block.length, 0);
      fdatasyncSync(descriptor);
      times.push(performance.now() - startMs);
    }
  } catch (error) {
    missing.push(`how fast ${path} is: ${messageOf(error)}`);
  } finally {
    if (descriptor !== undefined) {
      closeSync(descriptor);
      rmSync(file, { force: true });
    }
  }
  return times.sort((a, b) => a - b);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
