import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "@zooid/txn-log/sqlite";
import { type DataDirectories, placesOf } from "./data-directories.ts";
import { OfflineError } from "./offline-error.ts";
import { withOfflineStore } from "./offline-store.ts";

/** The number of a server that has no ensemble. */
const STANDALONE_SID = 1;

export interface NewDirectoryOptions {
  /** Get the data; must be empty, or not exist. */
  readonly directories: DataDirectories;
  warn(text: string): void;
}

/**
 * Makes the data directory of a server and fills it.
 *
 * @throws OfflineError, StoreError and what `fill` throws; nothing is left behind then
 */
export async function fillNewDirectory<T>(
  { directories, warn }: NewDirectoryOptions,
  fill: (store: Store) => Promise<T>,
): Promise<T> {
  const { directory, logDirectory } = placesOf(directories);
  const places = [...new Set([directory, logDirectory])];
  for (const place of places) {
    if (existsSync(place) && readdirSync(place).length > 0) {
      throw new OfflineError([`${place} is not empty: a state is restored to a directory of its own`]);
    }
  }
  const isMade = places.filter((place) => !existsSync(place));
  try {
    for (const place of places) mkdirSync(place, { recursive: true, mode: 0o700 });
    return await withOfflineStore({ directory, logDirectory, sid: STANDALONE_SID, warn }, fill);
  } catch (error) {
    for (const place of places.filter((each) => existsSync(each))) {
      for (const name of readdirSync(place)) rmSync(join(place, name), { recursive: true, force: true });
      if (isMade.includes(place)) rmSync(place, { recursive: true, force: true });
    }
    throw error;
  }
}
