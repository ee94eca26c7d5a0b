import { constants, copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isLogFile, type Store } from "@zooid/txn-log/sqlite";
import { type DataDirectories, storeDirectories } from "./data-directories.ts";
import { OfflineError } from "./offline-error.ts";
import { withOfflineStore } from "./offline-store.ts";
import { wholeTree } from "./recover-member.ts";
import type { Survivor } from "./survivor.ts";

export interface CopyOptions {
  /** Gets the copy; its creator deletes it. */
  readonly copy: string;
  /** Whether a damaged log is taken as far as it is whole. */
  readonly takesDamaged: boolean;
  warn(text: string): void;
}

/** State, log and witness; whatever else lies in a data directory is no part of the data. */
const STATE_FILE = /^state-\d+\.db(?:-journal)?$/;
const WITNESS = "witness";

/**
 * Opens a copy of what a stopped server holds, with all that is logged in its state.
 *
 * A copy, because the log is checkpointed into the state for that: the last transactions may never
 * have been committed, and a member that rejoins its ensemble must not have them in its state.
 *
 * @throws OfflineError for damaged data that is not taken, StoreError, and what `use` throws
 */
export async function withCopiedStore<T>(
  { damage, directories, sid }: Survivor,
  { copy, takesDamaged, warn }: CopyOptions,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  if (damage !== undefined && !takesDamaged) throw new OfflineError([`${damage}; --force writes what is whole`]);
  copyData(directories, copy);
  return await withOfflineStore({ directory: copy, sid, takesDamaged, warn }, (store) => {
    const tree = wholeTree(store, { dataDir: copy });
    const { zxid, chain } = store.log.durable.tail;
    if (store.state.applied.applied.zxid < zxid) {
      const { digestHigh, digestLow } = tree;
      store.state.advance({ zxid, chain, digestHigh, digestLow, bytes: 1 });
    }
    return use(store);
  });
}

function copyData(directories: DataDirectories, copy: string): void {
  const { directory, logDirectory } = storeDirectories(directories);
  const take = (from: string, isTaken: (name: string) => boolean): void => {
    for (const name of readdirSync(from).filter(isTaken))
      copyFileSync(join(from, name), join(copy, name), constants.COPYFILE_FICLONE);
  };
  mkdirSync(copy, { recursive: true, mode: 0o700 });
  take(directory, (name) => STATE_FILE.test(name));
  take(logDirectory, (name) => name === WITNESS || (isLogFile(name) && !name.endsWith("-shm")));
}
