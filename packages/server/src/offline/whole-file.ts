import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Writes a file beside its place, syncs and renames it: a file of that name is whole. Only its
 * owner may read it.
 *
 * @param next gives the next piece; undefined after the last
 * @returns the length; where it throws, nothing is left behind
 */
export async function writeWhole(file: string, next: () => Promise<Uint8Array | undefined>): Promise<number> {
  const aside = join(dirname(file), `.${basename(file)}.part`);
  const handle = openSync(aside, "w", 0o600);
  let sizeBytes = 0;
  try {
    for (let piece = await next(); piece !== undefined; piece = await next()) {
      for (let at = 0; at < piece.length; ) at += writeSync(handle, piece, at);
      sizeBytes += piece.length;
    }
    fsyncSync(handle);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
  renameSync(aside, file);
  return sizeBytes;
}

/** Makes the names in a folder durable. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
