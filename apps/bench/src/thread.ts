import { extname } from "node:path";
import { Worker } from "node:worker_threads";

/** The entry files of threads: their paths from this folder. */
export type ThreadName = "load/load-worker" | "null-server/null-server-worker";

/**
 * Ten thousand contenders, each with the queue that it has last read, take 5 GB. It is a limit,
 * not the usual size.
 */
const HEAP_MB_MAX = 12_288;

/**
 * Starts a thread from its source where this is source, from its built form where this is built.
 */
export function startThread(name: ThreadName, workerData: unknown): Worker {
  const extension = extname(import.meta.url);
  return new Worker(new URL(`./${name}${extension}`, import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    execArgv: extension === ".ts" ? ["--conditions=@zooid/source"] : [],
  });
}
