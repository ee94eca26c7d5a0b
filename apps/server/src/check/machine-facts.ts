import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import type { MachineFacts } from "@zooid/doctor";
import { directoryFacts } from "./disk-facts.ts";

export interface CheckedServer {
  readonly dataDir: string;
  readonly logDir: string;
  readonly heldBytesMax: number | undefined;
  /** The process that runs with these directories, if one is seen. */
  readonly pid: number | undefined;
  /** Whether a server uses these directories: then it can, by any user of the check. */
  readonly isRunning: boolean;
}

const KIB = 1024;

/** The kernel's figures of this machine, and of the server's process if it runs. */
export function machineFacts(server: CheckedServer, missing: string[]): MachineFacts {
  const { dataDir, logDir, heldBytesMax, pid, isRunning } = server;
  const process = pid === undefined ? "self" : `${pid}`;
  return {
    directories:
      dataDir === logDir
        ? [directoryFacts({ path: dataDir, uses: ["dataDir"], isRunning }, missing)]
        : [
            directoryFacts({ path: dataDir, uses: ["dataDir"], isRunning }, missing),
            directoryFacts({ path: logDir, uses: ["dataLogDir"], isRunning }, missing),
          ],
    memory: {
      totalBytes: totalmem(),
      limitBytes: memoryLimit(),
      heldBytesMax,
      swappedBytes: pid === undefined ? undefined : swappedBytes(pid),
    },
    processor: throttling(),
    descriptorsMax: numberIn(`/proc/${process}/limits`, /^Max open files +(\d+)/m),
    isClockSynchronized: isClockSynchronized(),
  };
}

function memoryLimit(): number | undefined {
  const bytes = process.constrainedMemory();
  return bytes > 0 && bytes < totalmem() ? bytes : undefined;
}

function swappedBytes(pid: number): number | undefined {
  const kib = numberIn(`/proc/${pid}/status`, /^VmSwap:\s+(\d+) kB/m);
  return kib === undefined ? undefined : kib * KIB;
}

/** The quota of this process's control group, which is the server's in a container. */
function throttling(): MachineFacts["processor"] {
  for (const file of ["/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"]) {
    const periods = numberIn(file, /^nr_periods (\d+)/m);
    if (periods !== undefined) return { periods, throttledPeriods: numberIn(file, /^nr_throttled (\d+)/m) };
  }
  return { periods: undefined, throttledPeriods: undefined };
}

/** By the two services that leave a trace of it; undefined where neither runs. */
function isClockSynchronized(): boolean | undefined {
  if (isThere("/run/systemd/timesync/synchronized")) return true;
  if (isThere("/run/systemd/timesync")) return false;
  return undefined;
}

function isThere(path: string): boolean {
  try {
    readFileSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EISDIR";
  }
}

function numberIn(file: string, pattern: RegExp): number | undefined {
  try {
    const [, digits] = pattern.exec(readFileSync(file, "utf8")) ?? [];
    return digits === undefined ? undefined : Number(digits);
  } catch {
    return undefined;
  }
}

/** The process that has a file of the directory open; undefined where none is seen. */
export function processOf(directory: string): number | undefined {
  for (const pid of pids()) {
    const folder = `/proc/${pid}/fd`;
    let descriptors: readonly string[];
    try {
      descriptors = readdirSync(folder);
    } catch {
      // Another user's, or it has ended.
      continue;
    }
    if (descriptors.some((descriptor) => targetOf(join(folder, descriptor)).startsWith(`${directory}/`))) return pid;
  }
  return undefined;
}

export function pids(): readonly number[] {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid);
  } catch {
    return [];
  }
}

export function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}
