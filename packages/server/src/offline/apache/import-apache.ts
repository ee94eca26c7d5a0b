import { epochOf, type Member } from "@zooid/model";
import { type SnapshotReceiver, StoreError } from "@zooid/txn-log";
import { apacheTreeSnapshot, type Store } from "@zooid/txn-log/sqlite";
import { takeOverImported } from "../../storage/take-over-imported.ts";
import { foundEnsemble } from "../found-ensemble.ts";
import { fillNewDirectory, type NewDirectoryOptions } from "../new-directory.ts";
import { OfflineError } from "../offline-error.ts";
import type { ImportPlan } from "./import-plan.ts";
import type { ApacheState } from "./read-apache.ts";
import { damagedBy } from "./read-snapshot.ts";

export interface ImportOptions extends NewDirectoryOptions {
  /** The member that the server is from then on, alone. Undefined: a standalone server. */
  readonly member: Member | undefined;
  /** Where the state comes from, for errors. */
  readonly from: string;
  readonly plan: Pick<ImportPlan, "epoch" | "sessions">;
}

export interface Imported {
  readonly nodeCount: number;
  /** Empty for a standalone server. */
  readonly ensembleId: string;
}

/**
 * Makes the data directory of a stopped server from that of an Apache server. Its zxids continue in
 * the epoch of the plan.
 *
 * @throws OfflineError and StoreError; nothing is left behind then
 */
export async function importApache(state: ApacheState, options: ImportOptions): Promise<Imported> {
  try {
    return await fillNewDirectory(options, (store) => importInto(store, state, options));
  } catch (error) {
    throw error instanceof StoreError ? damagedBy(options.from, error) : error;
  }
}

async function importInto(store: Store, { tree, zxid }: ApacheState, options: ImportOptions): Promise<Imported> {
  const { from, member, plan } = options;
  const { epoch, sessions } = plan;
  // A new ensemble holds an epoch before its first leader takes the next one.
  const epochMin = member === undefined ? epoch : epoch - 1;
  const receiver: SnapshotReceiver = await store.importSnapshot({ sessions, epochMin });
  for (const piece of apacheTreeSnapshot(tree, zxid, from)) await receiver.add(piece);
  const received = await receiver.finish();
  await takeOverImported(store.log, received);
  store.adoptState();
  const found = epochOf(received.position.zxid) + 1;
  if (found !== epochMin) {
    throw new OfflineError([
      `${from} has a znode with a zxid of an epoch that none of Apache's servers has had: the history would begin at ${found}, and not at ${epochMin}`,
    ]);
  }
  const ensembleId = member === undefined ? "" : await foundEnsemble(store, member, epochMin);
  return { nodeCount: received.nodeCount, ensembleId };
}
