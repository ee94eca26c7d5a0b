import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, release, type as systemType, totalmem } from "node:os";

/** Where the generator ran. */
export interface MachineFacts {
  readonly bench: string;
  readonly node: string;
  readonly system: string;
  readonly cores: number;
  readonly cpu: string;
  /** Cores that this process may use, as the system lists them; undefined where it does not. */
  readonly allowedCores: string | undefined;
  readonly memoryMib: number;
}

const { version } = createRequire(import.meta.url)("../../package.json") as { readonly version: string };
export const BENCH_VERSION: string = version;

export function machineFacts(): MachineFacts {
  return {
    bench: `zooid-bench ${version}`,
    node: process.versions.node,
    system: `${systemType()} ${release()}`,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    allowedCores: allowedCores(),
    memoryMib: Math.round(totalmem() / 1024 / 1024),
  };
}

function allowedCores(): string | undefined {
  try {
    return /^Cpus_allowed_list:\s+(\S+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  } catch {
    return undefined;
  }
}
