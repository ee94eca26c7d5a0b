import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../packages/conformance/src/endpoint.ts";

/** What a recorded process runs with. */
export interface Recording {
  /** Files below here are recorded. */
  readonly root: string;
  /** The record, for `DiskHistory`. */
  readonly log: string;
  readonly syncDelayUs: number;
}

/** Compiles the recording shim (cc), and answers the environment of a process that it records. */
export function recordingEnvironment({ root, log, syncDelayUs }: Recording): Readonly<Record<string, string>> {
  const shim = join(ROOT, ".cache/power-cut-shim.so");
  const source = join(import.meta.dirname, "shim.c");
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  execFileSync("cc", ["-O2", "-Wall", "-shared", "-fPIC", "-pthread", "-o", shim, source], { stdio: "inherit" });
  return {
    LD_PRELOAD: shim,
    RECORD_ROOT: root,
    RECORD_LOG: log,
    RECORD_SYNC_DELAY_US: String(syncDelayUs),
    UV_USE_IO_URING: "0",
  };
}
