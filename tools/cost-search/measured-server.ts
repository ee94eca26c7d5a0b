/**
 * A server whose event loop is watched: the process reports the longest iteration of its loop since the last report. It never sleeps, so it
 * takes a processor for itself.
 */
import { startServer } from "@zooid/server";
import { TxnBatchEncoder } from "@zooid/wire/peer";

export interface LoopReport {
  /** The longest iteration in which the process kept its processor, in milliseconds. */
  readonly heldMs: number;
  /** The longest iteration in which another process took the processor away. */
  readonly disturbedMs: number;
  /** Heap and buffers, in bytes. */
  readonly memoryBytes: number;
  /** Bytes of all transactions: they go into the log, and to each learner. */
  readonly txnBytes: number;
}

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
});

let heldMs = 0;
let disturbedMs = 0;
let lastMs = performance.now();
let lastSwitches = switches();
const look = (): void => {
  const nowMs = performance.now();
  const nowSwitches = switches();
  if (nowSwitches !== lastSwitches) disturbedMs = Math.max(disturbedMs, nowMs - lastMs);
  else heldMs = Math.max(heldMs, nowMs - lastMs);
  lastMs = nowMs;
  lastSwitches = nowSwitches;
  setImmediate(look);
};
look();

process.on("message", () => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const memoryBytes = heapUsed + arrayBuffers;
  process.send?.({ heldMs, disturbedMs, memoryBytes, txnBytes } satisfies LoopReport);
  lastMs = performance.now();
  lastSwitches = switches();
  heldMs = 0;
  disturbedMs = 0;
});
process.on("disconnect", () => process.exit());
process.send?.(server.port);

/** How often another process took the processor from a thread of this one. */
function switches(): number {
  return process.resourceUsage().involuntaryContextSwitches;
}
