import { ErrorCode, OpCode, type TxnOp } from "@zooid/model";
import type { ReplicaEvent } from "@zooid/replica";
import type { Crash } from "../cluster/cluster.ts";
import type { SimServer } from "../cluster/server.ts";
import type { Committed } from "../model/history.ts";
import type { SessionLife } from "../model/sessions.ts";
import type { CoverageCounts } from "./coverage.ts";

/** Counts what a crash interrupted. */
export function coverCrash(coverage: CoverageCounts, { replica }: SimServer, crash: Crash): void {
  const { before, pendingCount, wasInstalling } = crash;
  const { log } = crash.image.log;
  if (wasInstalling) {
    const isKept = log.currentEpoch > before.currentEpoch;
    coverage.reached(isKept ? "crash during a history install, kept" : "crash during a history install, lost");
  } else if (pendingCount > 0) {
    const isKept = log.tail.zxid > before.tail.zxid;
    coverage.reached(isKept ? "crash with unsynced entries kept" : "crash with unsynced entries lost");
  }
  if (replica.zab.members.isChanging) coverage.reached("crash before a change is committed");
  if (replica.isApplying) coverage.reached("crash in the middle of a transaction");
  if (replica.isPreparing) coverage.reached("crash while a multi is prepared");
}

export function coverStep(coverage: CoverageCounts, { replica }: SimServer): void {
  if (replica.isApplying) coverage.reached("transaction applied in slices");
  if (replica.isPreparing) coverage.reached("multi prepared in slices");
  if (replica.zab.mustTransfer) coverage.reached("leader not in the configuration it committed");
}

export function coverEvent(coverage: CoverageCounts, event: ReplicaEvent): void {
  switch (event.kind) {
    case "leaders-level":
      coverage.reached("learner of an unknown level refused");
      break;
    case "refused-by-leader":
      if (event.reason === "level") coverage.reached("learner of an unknown level refused");
      break;
    case "learner-is-ahead":
      coverage.reached("leader with a smaller log refused");
      break;
    case "configuration-learned":
      coverage.reached("configuration learned in an election");
      break;
    case "counter-used-up":
      coverage.reached("counter near its end, new epoch");
      break;
    case "quorum-lost":
      coverage.reached("leader lost its quorum");
      break;
    case "leader-handed-over":
      coverage.reached("successor led without an election");
      break;
    default:
  }
}

/** Counts what a committed transaction is an example of. */
export function coverTxn(
  coverage: CoverageCounts,
  txn: {
    readonly committed: Committed;
    readonly first: Readonly<TxnOp>;
    readonly life: SessionLife | undefined;
    /** Its session began as a local one. */
    readonly wasLocal: boolean;
  },
): void {
  const { first, life, wasLocal } = txn;
  const { zxid, op, reaped } = txn.committed;
  if (op === OpCode.RECONFIG) {
    coverage.reached(first.op === OpCode.ERROR ? "change of the configuration refused" : "configuration changed");
  }
  if (life?.endingZxid === zxid) {
    if (life.closedZxid !== zxid) coverage.reached("session closed in several parts");
    if (life.isExpired) coverage.reached("session expired");
  }
  if (op === OpCode.CREATE_SESSION && wasLocal) coverage.reached("local session upgraded");
  if (op === OpCode.MULTI && first.code === ErrorCode.MARSHALLING_ERROR) {
    coverage.reached("oversized transaction refused");
  }
  if (first.code === ErrorCode.SESSION_MOVED) coverage.reached("write of a moved session refused");
  if (reaped !== undefined) coverage.reached(reaped === "container" ? "container reaped" : "TTL node reaped");
}
