import { extname } from "node:path";
import { type TransferListItem, Worker } from "node:worker_threads";
import { awaitAtExit, newStartedThread } from "./loading.ts";

export interface WorkerStart {
  /** A file below `src`, without extension, that begins with `loadThread`. */
  readonly name: string;
  readonly data: unknown;
  readonly transfer: readonly TransferListItem[];
  /**
   * Limit of the thread's old generation. With less than {@link HEAP_MIB_MIN} V8 collects the whole
   * heap while the thread still loads its modules, which takes 15 ms of CPU.
   */
  readonly heapMib: number;
}

/** The least limit with which a thread starts without a full collection. */
export const HEAP_MIB_MIN = 96;

const YOUNG_HEAP_MIB = 4;

/**
 * Starts a thread from a file of this package: from source where this is source, from the built
 * form where it is built.
 */
export function startWorker({ name, data, transfer, heapMib }: WorkerStart): Worker {
  const extension = extname(import.meta.url);
  const started = newStartedThread(data);
  const worker = new Worker(new URL(`../${name}${extension}`, import.meta.url), {
    workerData: started,
    transferList: [...transfer],
    execArgv: extension === ".ts" ? ["--conditions=@zooid/source"] : [],
    resourceLimits: { maxOldGenerationSizeMb: heapMib, maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
  });
  awaitAtExit(worker, started);
  return worker;
}
