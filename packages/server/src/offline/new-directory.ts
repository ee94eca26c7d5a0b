import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type LogHandler, StoreError } from "@zooid/txn-log";
import { openStore, type Store } from "@zooid/txn-log/sqlite";
import { type DataDirectories, placesOf } from "./data-directories.ts";
import { OfflineError } from "./offline-error.ts";

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
    return await openAndFill({ directory, logDirectory }, warn, fill);
  } catch (error) {
    for (const place of places.filter((each) => existsSync(each))) {
      for (const name of readdirSync(place)) rmSync(join(place, name), { recursive: true, force: true });
      if (isMade.includes(place)) rmSync(place, { recursive: true, force: true });
    }
    throw error;
  }
}

async function openAndFill<T>(
  places: { readonly directory: string; readonly logDirectory: string },
  warn: (text: string) => void,
  fill: (store: Store) => Promise<T>,
): Promise<T> {
  const { promise: failure, reject } = Promise.withResolvers<never>();
  failure.catch(() => {});
  const handler: LogHandler = {
    appended: () => {},
    roomChanged: (missing) => {
      if (missing !== undefined) reject(new StoreError({ code: "DISK_FULL", file: places.directory, reason: missing }));
    },
    failed: reject,
    warned: warn,
  };
  await using store = await openStore({ ...places, sid: STANDALONE_SID, handler });
  return await Promise.race([fill(store), failure]);
}
