import { randomBytes, randomInt } from "node:crypto";
import { join } from "node:path";
import { DataTree } from "@zooid/data-tree";
import {
  composeZxid,
  EPOCH_MAX,
  EPOCHS_SKIPPED,
  formatZxid,
  type Member,
  membersOf,
  newTxnHeader,
  newTxnOp,
  type Zxid,
} from "@zooid/model";
import type { Store } from "@zooid/txn-log/sqlite";
import { TxnReader } from "@zooid/wire/txn";
import { encodeMembers } from "@zooid/zab";
import { FOLLOWER_ID } from "../following/follower-id.ts";
import { loadTree } from "../storage/load-tree.ts";
import { type DataDirectories, storeDirectories } from "./data-directories.ts";
import { OfflineError } from "./offline-error.ts";
import { withOfflineStore } from "./offline-store.ts";
import type { Survivor } from "./survivor.ts";

// Clients may have seen zxids of leaders that the survivor never heard of.
export { EPOCHS_SKIPPED };

export interface RecoverOptions {
  /** The member that the server is from then on, alone. */
  readonly member: Member;
  /** Whether a damaged log is taken as far as it is whole. */
  readonly takesDamaged: boolean;
  warn(text: string): void;
}

export interface Recovered {
  readonly ensembleId: string;
  readonly epoch: number;
  readonly zxid: Zxid;
  readonly nodeCount: number;
  readonly sessionCount: number;
}

/** The problems of continuing from here, one sentence each. */
export function recoveryProblems(survivor: Survivor, { takesDamaged }: Pick<RecoverOptions, "takesDamaged">): string[] {
  const { damage, ensembleId, epochMax } = survivor;
  return [
    ...(damage === undefined || takesDamaged
      ? []
      : [`${damage}; --force continues with what is whole, and loses the rest`]),
    ...(ensembleId === "" ? [nothingToRecover(survivor)] : []),
    ...(ensembleId === FOLLOWER_ID
      ? ["it follows an Apache ensemble, which has the data: no member of an ensemble is lost"]
      : []),
    ...(epochMax + EPOCHS_SKIPPED < EPOCH_MAX - 1
      ? []
      : [`epoch ${epochMax} leaves no room for ${EPOCHS_SKIPPED} more: the last one is ${EPOCH_MAX - 1}`]),
  ];
}

function nothingToRecover({ damage, directories: { dataDir } }: Survivor): string {
  return damage === undefined
    ? `${dataDir} was never one of an ensemble: it needs no recovery`
    : `nothing of the ensemble is left in ${dataDir}: restore a snapshot, or empty the data directories of all members, which then found a new ensemble without data`;
}

/**
 * Turns a survivor into a new ensemble: with all that it logged, another identity, a later epoch
 * and itself as the only member, in one transaction. The whole state is loaded and the log replayed
 * before, so that nothing is changed in a directory that a server could not start on.
 *
 * @throws OfflineError and StoreError; the directory is unchanged then
 */
export async function recoverMember(survivor: Survivor, options: RecoverOptions): Promise<Recovered> {
  const problems = recoveryProblems(survivor, options);
  if (problems.length > 0) throw new OfflineError(problems);
  const { sid, epochMax } = survivor;
  const { member, takesDamaged, warn } = options;
  const epoch = epochMax + EPOCHS_SKIPPED;
  const ensembleId = randomBytes(8).toString("hex");
  const places = storeDirectories(survivor.directories);
  return await withOfflineStore({ ...places, sid, takesDamaged, warn }, async (store) => {
    const tree = wholeTree(store, survivor.directories);
    const config = encodeMembers(membersOf([member], composeZxid(epoch, 0)));
    await store.branch({ ensembleId, sid: member.sid, epoch, config });
    return { ensembleId, epoch, zxid: tree.applied, nodeCount: tree.nodeCount, sessionCount: tree.sessionCount };
  });
}

/** The tree with all that is logged, committed or not. */
export function wholeTree(store: Store, { dataDir }: DataDirectories): DataTree {
  const tree = new DataTree({ hashKey: { k0: randomInt(2 ** 32) | 0, k1: randomInt(2 ** 32) | 0 } });
  const { applied } = loadTree(tree, store, join(dataDir, store.log.durable.stateFile));
  const reader = new TxnReader();
  const header = newTxnHeader();
  const op = newTxnOp();
  store.replay(applied, (zxid, bytes, start, end) => {
    reader.open(bytes, start, end, header);
    header.zxid = zxid;
    while (reader.next(op)) tree.apply(header, op, undefined);
    tree.finish(header);
  });
  return tree;
}

/** `0x3eb00000000` */
export function firstZxidOf(epoch: number): string {
  return formatZxid(composeZxid(epoch, 0));
}
