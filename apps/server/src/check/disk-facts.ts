import { closeSync, fdatasyncSync, openSync, readFileSync, realpathSync, rmSync, statfsSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DirectoryFacts } from "@zooid/doctor";
import { directoryFault } from "@zooid/embedded-server";

const SYNC_COUNT = 100;
/** A disk that is this slow has shown it by then. */
const SYNCS_MS_MAX = 2_000;
const BLOCK_BYTES = 4096;
const TEST_FILE = "zooid-check.tmp";

export interface CheckedDirectory extends Pick<DirectoryFacts, "path" | "uses"> {
  /** Whether a server uses it, perhaps as another user. */
  readonly isRunning: boolean;
}

/**
 * A directory's file system and room, the time of a synced write, and whether the user of the check
 * may write there.
 */
export function directoryFacts({ path, uses, isRunning }: CheckedDirectory, missing: string[]): DirectoryFacts {
  const there = nearestDirectory(path);
  const space = spaceOf(there, missing);
  const type = fileSystemOf(there);
  const fault = isRunning ? undefined : (kernelFault(path, there, type) ?? directoryFault(path));
  const syncMs = fault === undefined ? syncTimes(path, missing) : [];
  return { path, uses, fileSystem: type, ...space, syncMs, fault };
}

/** File systems in which the kernel alone makes files. */
const KERNEL_FILE_SYSTEMS: ReadonlySet<string> = new Set(["proc", "sysfs", "cgroup", "cgroup2", "devpts"]);

function kernelFault(path: string, there: string, type: string | undefined): DirectoryFacts["fault"] {
  if (type === undefined || !KERNEL_FILE_SYSTEMS.has(type)) return undefined;
  const reason = `${there} is on ${type}, where the kernel alone makes files`;
  return {
    reason: path === there ? reason : `it does not exist and cannot be made: ${reason}`,
    remedy: "name another directory",
  };
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
