import { extname } from "node:path";
import { Worker } from "node:worker_threads";

/** The entry files of threads: each stands in this directory. */
export type ThreadName = "load-worker" | "null-server-worker";

/** Starts a thread from its source where this is source, from its built form where this is built. */
export function startThread(name: ThreadName, workerData: unknown): Worker {
  const extension = extname(import.meta.url);
  return new Worker(new URL(`./${name}${extension}`, import.meta.url), {
    workerData,
    execArgv: extension === ".ts" ? ["--conditions=@zooid/source"] : [],
  });
}
