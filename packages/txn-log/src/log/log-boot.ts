import { assert, EPOCH_MAX, formatsAt, NO_RAISE, ZXID_NONE } from "@zooid/model/storage";
import { StoreError } from "../store/store-error.ts";
import { CHAIN_NONE } from "./chain.ts";
import type { DurableLog } from "./txn-log.ts";

/** A log on which nothing was ever written. */
export function newDurableLog(owner: {
  readonly sid: number;
  readonly ensembleId?: string;
  readonly diskId?: string;
  /** The state that the log continues. Default: that of a new directory. */
  readonly stateFile?: string | undefined;
}): DurableLog {
  const { ensembleId = "", sid, diskId = "", stateFile = "state-1.db" } = owner;
  const start = { zxid: ZXID_NONE, chain: CHAIN_NONE };
  return {
    identity: { ensembleId, sid, formatVersion: formatsAt(NO_RAISE.level).log, bootCount: 0, diskId },
    promise: { epoch: 0, sid: 0, incarnation: 0 },
    currentEpoch: 0,
    tail: start,
    floor: start,
    commitHint: ZXID_NONE,
    epochs: [],
    stateFile,
    committedConfig: undefined,
    lastSeenConfig: undefined,
    levelRaise: NO_RAISE,
    amnesiac: false,
    branches: [],
  };
}

/**
 * The log behind one more start: the next bootCount, and for an ensemble of one its next epoch. A
 * standalone server is its own quorum: it promises itself the epoch and holds it at once, and
 * everything it ever logged is committed.
 */
export function bootLog(found: DurableLog, takeEpoch: boolean): DurableLog {
  const bootCount = found.identity.bootCount + 1;
  const identity = { ...found.identity, bootCount };
  if (!takeEpoch) return { ...found, identity };
  const epoch = Math.max(found.promise.epoch, found.currentEpoch) + 1;
  if (epoch >= EPOCH_MAX) throw new StoreError({ code: "EPOCH_EXHAUSTED", epoch: epoch - 1 });
  assert(epoch > found.currentEpoch, "a taken epoch is a new one");
  return {
    ...found,
    identity,
    promise: { epoch, sid: identity.sid, incarnation: bootCount },
    currentEpoch: epoch,
    commitHint: found.tail.zxid,
  };
}
