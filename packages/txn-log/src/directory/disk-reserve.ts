import { rmSync, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * A file of zeros in a data directory. It is removed when a write finds no room, since recovery
 * from a full disk needs some room itself.
 */
export interface Reserve {
  readonly file: string;
  readonly bytes: number;
}

const MIB = 1024 * 1024;

/**
 * For the log's commits, such as a purge's and ends of sessions, and for a start: the index of a
 * WAL, the count of starts.
 */
export const LOG_RESERVE: Reserve = { file: "reserve", bytes: MIB };
/** For a checkpoint, after which the log can be purged. */
export const CHECKPOINT_RESERVE: Reserve = { file: "reserve-for-checkpoints", bytes: 4 * MIB };

/**
 * Makes a reserve unless it is there. Rejects, and leaves nothing, when there is no room for it.
 */
export async function makeReserve(directory: string, reserve: Reserve): Promise<void> {
  const file = join(directory, reserve.file);
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return;
  const unfinished = `${file}.new`;
  try {
    const handle = await open(unfinished, "w", 0o600);
    try {
      await handle.writeFile(Buffer.alloc(reserve.bytes));
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

/** Gives a reserve's room to others. @returns whether there was one */
export function releaseReserve(directory: string, reserve: Reserve): boolean {
  const file = join(directory, reserve.file);
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return false;
  rmSync(file, { force: true });
  return true;
}
