/**
 * A server whose event loop is watched: the process reports the longest iteration of its loop since
 * the last report. It never sleeps, so it takes a processor for itself.
 */
import { existsSync, openSync, readSync } from "node:fs";
import { startServer } from "@zooid/embedded-server";
import { TxnBatchEncoder } from "@zooid/wire/txn";

export interface LoopReport {
  /**
   * The longest iteration, in milliseconds, without the time in which its thread waited for a
   * processor that others had.
   */
  readonly heldMs: number;
  /** Heap and buffers, in bytes. */
  readonly memoryBytes: number;
  /** Bytes of all transactions: they go into the log, and to each learner. */
  readonly txnBytes: number;
}

/** The main thread has the number of the process. */
const SCHEDULING_PATH = `/proc/${process.pid}/task/${process.pid}/schedstat`;
const schedulingFile = existsSync(SCHEDULING_PATH) ? openSync(SCHEDULING_PATH, "r") : undefined;
const schedulingBytes = Buffer.alloc(64);

let txnBytes = 0;
const { take } = TxnBatchEncoder.prototype;
TxnBatchEncoder.prototype.take = function (this: TxnBatchEncoder) {
  const batch = take.call(this);
  txnBytes += batch.end;
  return batch;
};

const server = await startServer({
  port: 0,
  dataDir: process.argv[2] as string,
  connectionsPerAddressMax: 0,
  fourLetterWords: "*",
  enforceQuota: true,
  ttlNodes: true,
  ...JSON.parse(process.argv[3] ?? "{}"),
});

let heldMs = 0;
let lastMs = ownMs();
const look = (): void => {
  const nowMs = ownMs();
  heldMs = Math.max(heldMs, nowMs - lastMs);
  lastMs = nowMs;
  setImmediate(look);
};
look();

process.on("message", (message) => {
  if (message === "admin port") {
    process.send?.(server.adminPort);
    return;
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  process.send?.({ heldMs, memoryBytes: heapUsed + arrayBuffers, txnBytes } satisfies LoopReport);
  lastMs = ownMs();
  heldMs = 0;
});
process.on("disconnect", () => process.exit());
process.send?.(server.port);

/** The time without what this thread waited for a processor. */
function ownMs(): number {
  return performance.now() - waitedMs();
}

/** As counted by Linux; 0 if it is not available. */
function waitedMs(): number {
  if (schedulingFile === undefined) return 0;
  const length = readSync(schedulingFile, schedulingBytes, 0, schedulingBytes.length, 0);
  const [, waitedNs] = schedulingBytes.toString("latin1", 0, length).split(" ");
  return Number(waitedNs) / 1e6;
}
