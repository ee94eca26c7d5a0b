import { REPLICA_DEFAULTS, type ReplicaConfig } from "@zooid/replica";

/**
 * The limits of a replica that a plan may make small, so that work is often split and requests are
 * often refused.
 */
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
  | "writeWorkUsMax"
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
  writeWorkUsMax: REPLICA_DEFAULTS.writeWorkUsMax,
};
