import type { EpochPromise } from "@zooid/model";

/**
 * Whether a history was made by one server alone, as an ensemble of one: no other server has ever
 * acked anything of it, so others may be missing all of it without having lost anything.
 *
 * A server that leads others writes the ensemble's id before it promises an epoch to itself, and
 * one that follows writes it with its promise. A history without an ensemble's id whose newest
 * epoch its own server has promised to itself was made alone. A server that founds an ensemble on
 * such a history writes the id when a quorum has promised to follow it.
 */
export function isOwnHistory(of: {
  readonly sid: number;
  readonly hasHistory: boolean;
  readonly ensembleId: string;
  readonly promise: EpochPromise;
}): boolean {
  return of.hasHistory && of.ensembleId === "" && of.promise.epoch > 0 && of.promise.sid === of.sid;
}
