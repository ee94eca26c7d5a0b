import { join } from "node:path";
import { compiledShim } from "../compiled-shim.ts";

/** The environment of a recorded process. */
export interface Recording {
  /** Files below here are recorded. */
  readonly root: string;
  /** The record, for `DiskHistory`. */
  readonly log: string;
  readonly syncDelayUs: number;
}

/** Compiles the recording shim (cc), and answers the environment of a process that it records. */
export function recordingEnvironment({ root, log, syncDelayUs }: Recording): Readonly<Record<string, string>> {
  const shim = compiledShim("power-cut-shim", join(import.meta.dirname, "shim.c"), "-pthread");
  return {
    LD_PRELOAD: shim,
    RECORD_ROOT: root,
    RECORD_LOG: log,
    RECORD_SYNC_DELAY_US: String(syncDelayUs),
    UV_USE_IO_URING: "0",
  };
}
