import { REPLICA_DEFAULTS, type ReplicaConfig } from "@zooid/replica";
import type { Write, WriteRequest } from "../model/tree.ts";
import type { Prng } from "./prng.ts";

/** Limits of a replica that a plan may make small, so that work is split and requests are refused often. */
export type Limits = Pick<
  ReplicaConfig,
  | "closeOpCountMax"
  | "closePathBytesMax"
  | "endOpCountPerTurn"
  | "forwardOpCountPerTurn"
  | "applyWorkPerTurn"
  | "prepareWorkPerTurn"
  | "multiOpCountMax"
  | "multiPathNamesMax"
  | "txnBytesMax"
  | "watchBytesMax"
  | "waitingAnswerBytesMax"
  | "inFlightCountMax"
  | "setWatchesWorkPerTurn"
  | "releaseWorkPerTurn"
  | "heldBytesMax"
>;

export const DEFAULT_LIMITS: Limits = {
  closeOpCountMax: REPLICA_DEFAULTS.closeOpCountMax,
  closePathBytesMax: REPLICA_DEFAULTS.closePathBytesMax,
  endOpCountPerTurn: REPLICA_DEFAULTS.endOpCountPerTurn,
  forwardOpCountPerTurn: REPLICA_DEFAULTS.forwardOpCountPerTurn,
  applyWorkPerTurn: REPLICA_DEFAULTS.applyWorkPerTurn,
  prepareWorkPerTurn: REPLICA_DEFAULTS.prepareWorkPerTurn,
  multiOpCountMax: REPLICA_DEFAULTS.multiOpCountMax,
  multiPathNamesMax: REPLICA_DEFAULTS.multiPathNamesMax,
  txnBytesMax: REPLICA_DEFAULTS.txnBytesMax,
  watchBytesMax: REPLICA_DEFAULTS.watchBytesMax,
  waitingAnswerBytesMax: REPLICA_DEFAULTS.waitingAnswerBytesMax,
  inFlightCountMax: REPLICA_DEFAULTS.inFlightCountMax,
  setWatchesWorkPerTurn: REPLICA_DEFAULTS.setWatchesWorkPerTurn,
  releaseWorkPerTurn: REPLICA_DEFAULTS.releaseWorkPerTurn,
  heldBytesMax: REPLICA_DEFAULTS.heldBytesMax,
};

/** The first page of a watch table; a smaller limit would allow no watch at all. */
const WATCH_PAGE_BYTES = 65_632;

/** Each limit is small in about half of the plans. */
export function drawLimits(random: Prng): Limits {
  const small = (least: number, range: number, usual: number): number => {
    const isSmall = random.chance(0.5);
    const value = least + random.below(range);
    return isSmall ? value : usual;
  };
  return {
    closeOpCountMax: small(1, 3, DEFAULT_LIMITS.closeOpCountMax),
    closePathBytesMax: small(1, 30, DEFAULT_LIMITS.closePathBytesMax),
    endOpCountPerTurn: small(1, 3, DEFAULT_LIMITS.endOpCountPerTurn),
    forwardOpCountPerTurn: small(1, 4, DEFAULT_LIMITS.forwardOpCountPerTurn),
    applyWorkPerTurn: small(1, 8, DEFAULT_LIMITS.applyWorkPerTurn),
    prepareWorkPerTurn: small(1, 30, DEFAULT_LIMITS.prepareWorkPerTurn),
    multiOpCountMax: small(1, 5, DEFAULT_LIMITS.multiOpCountMax),
    multiPathNamesMax: small(1, 8, DEFAULT_LIMITS.multiPathNamesMax),
    txnBytesMax: small(80, 300, DEFAULT_LIMITS.txnBytesMax),
    watchBytesMax: small(WATCH_PAGE_BYTES, 1500, DEFAULT_LIMITS.watchBytesMax),
    waitingAnswerBytesMax: small(1, 3000, DEFAULT_LIMITS.waitingAnswerBytesMax),
    inFlightCountMax: small(1, 6, DEFAULT_LIMITS.inFlightCountMax),
    setWatchesWorkPerTurn: small(1, 30, DEFAULT_LIMITS.setWatchesWorkPerTurn),
    releaseWorkPerTurn: small(1, 4, DEFAULT_LIMITS.releaseWorkPerTurn),
    heldBytesMax: DEFAULT_LIMITS.heldBytesMax,
  };
}

/** What an op takes in a transaction beside its path and data: never more. */
const OP_BYTES_MAX = 160;
const HEADER_BYTES_MAX = 80;

/**
 * Whether a leader refuses a request for its size. "maybe": its transaction may be larger than `txnBytesMax`, which depends on the
 * encoding; where it was not refused, {@link Proposals} has checked the transaction itself.
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
