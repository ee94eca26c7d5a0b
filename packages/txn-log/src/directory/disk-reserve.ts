import { rmSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * A file of zeros in a data directory, which is removed when a write finds no room: what recovers from a full disk needs a little room
 * itself (the index of a WAL, the count of a start, ends of sessions).
 */
export const RESERVE_FILE = "reserve";
const RESERVE_BYTES = 1024 * 1024;

/** Makes the reserve unless it is there. Rejects, and leaves nothing, when there is no room for it. */
export async function makeReserve(directory: string): Promise<void> {
  const file = join(directory, RESERVE_FILE);
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return;
  const unfinished = `${file}.new`;
  try {
    const handle = await open(unfinished, "w", 0o600);
    try {
      await handle.writeFile(Buffer.alloc(RESERVE_BYTES));
      // Some file systems find room for a file only when it is synced.
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, file);
  } catch (cause) {
    await rm(unfinished, { force: true });
    throw cause;
  }
}

/** Gives the reserve's room to others. @returns whether there was one */
export function releaseReserve(directory: string): boolean {
  const file = join(directory, RESERVE_FILE);
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return false;
  rmSync(file, { force: true });
  return true;
}
