import type { Limits } from "../cluster/limits.ts";
import type { Write, WriteRequest } from "./writes.ts";

/** The most that an op takes in a transaction beside its path and data. */
const OP_BYTES_MAX = 160;
const HEADER_BYTES_MAX = 80;

/**
 * Whether a leader refuses a request for its size. "maybe": its transaction may be larger than
 * `txnBytesMax`, which depends on the encoding; where it was not refused, {@link ProposedTxns} has
 * checked the transaction itself.
 */
export function isRefusedForSize(request: WriteRequest, limits: Limits): "yes" | "maybe" | "no" {
  if (request.kind !== "multi") return "no";
  const { writes } = request;
  const names = writes.reduce((sum, { path }) => sum + path.split("/").length - 1, 0);
  if (writes.length > limits.multiOpCountMax || names > limits.multiPathNamesMax) return "yes";
  const bytesMax = writes.reduce((sum, write) => sum + OP_BYTES_MAX + textBytes(write), HEADER_BYTES_MAX);
  return bytesMax > limits.txnBytesMax ? "maybe" : "no";
}

function textBytes(write: Write): number {
  const data = write.kind === "create" || write.kind === "set" ? Buffer.byteLength(write.data) : 0;
  return Buffer.byteLength(write.path) + data;
}
