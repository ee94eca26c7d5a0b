import { StoreError } from "@zooid/txn-log";
import { NewDirectories, type Store } from "@zooid/txn-log/sqlite";
import { type DataDirectories, storeDirectories } from "./data-directories.ts";
import { OfflineError } from "./offline-error.ts";
import { withOfflineStore } from "./offline-store.ts";

/** The number of a server that has no ensemble. */
const STANDALONE_SID = 1;

export interface NewDirectoryOptions {
  /** Get the data; must be empty, or not exist, or be left unfinished by an earlier command. */
  readonly directories: DataDirectories;
  /**
   * The command's line. Until all data are there, a server that starts on the directories is
   * refused, with the sentence that this command is to be repeated.
   */
  readonly command: string;
  warn(text: string): void;
}

/** @throws OfflineError for a directory that has something in it */
export function checkNewDirectory(directories: DataDirectories): void {
  const used = NewDirectories.inUse(storeDirectories(directories));
  if (used.length === 0) return;
  throw new OfflineError(used.map((place) => `${place} is not empty: a state is restored to a directory of its own`));
}

/**
 * Makes the data directory of a server and fills it.
 *
 * @throws OfflineError, StoreError and what `fill` throws; nothing is left behind then
 */
export async function fillNewDirectory<T>(
  { command, directories, warn }: NewDirectoryOptions,
  fill: (store: Store) => Promise<T>,
): Promise<T> {
  checkNewDirectory(directories);
  const own = storeDirectories(directories);
  const made = new NewDirectories(own, command);
  let filled: T;
  try {
    filled = await withOfflineStore({ ...own, sid: STANDALONE_SID, isUnfinished: true, warn }, fill);
  } catch (error) {
    // The directories of another command that was faster stay as they are.
    if (!(error instanceof StoreError && error.code === "LOCKED")) made.abandon();
    throw error;
  }
  made.finish();
  return filled;
}
