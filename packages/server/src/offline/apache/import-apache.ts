import { epochOf, type Member } from "@zooid/model";
import { type SnapshotReceiver, StoreError } from "@zooid/txn-log";
import { apacheTreeSnapshot, type Store } from "@zooid/txn-log/sqlite";
import { takeOverImported } from "../../storage/take-over-imported.ts";
import { foundEnsemble } from "../found-ensemble.ts";
import { fillNewDirectory, type NewDirectoryOptions } from "../new-directory.ts";
import type { ApacheState } from "./read-apache.ts";
import { damagedBy } from "./read-snapshot.ts";

export interface ImportOptions extends NewDirectoryOptions {
  /** The member that the server is from then on, alone. Undefined: a standalone server. */
  readonly member: Member | undefined;
  /** Where the state comes from, for errors. */
  readonly from: string;
}

export interface Imported {
  /** Without ephemeral nodes. */
  readonly nodeCount: number;
  /** Empty for a standalone server. */
  readonly ensembleId: string;
}

/**
 * Makes the data directory of a stopped server from that of an Apache server. Its zxids continue in
 * the next epoch. Sessions, and their ephemeral nodes, are left out.
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
  const { from, member } = options;
  const receiver: SnapshotReceiver = await store.importSnapshot();
  for (const piece of apacheTreeSnapshot(tree, zxid, from)) await receiver.add(piece);
  const received = await receiver.finish();
  await takeOverImported(store.log, received);
  store.adoptState();
  const epoch = epochOf(received.position.zxid) + 1;
  const ensembleId = member === undefined ? "" : await foundEnsemble(store, member, epoch);
  return { nodeCount: received.nodeCount, ensembleId };
}
