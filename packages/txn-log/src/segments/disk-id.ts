import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { syncDirectoryOf } from "../disk/sync-path.ts";
import { UNFINISHED } from "./segment-file.ts";

/**
 * The id of a disk, in a file of the log's directory: 16 hexadecimal digits, drawn when the log was
 * made. An ensemble counts a voter by the disk that it was last synchronized on, so that an older
 * disk under the same number is not counted:
 *
 * 1. S2 starts while its volume is not mounted, is synchronized on an empty disk, and acknowledges
 *    writes with S1.
 * 2. S1 stops, and S2 starts with its volume again, which lacks those writes.
 * 3. S2 and S3 would be a quorum without them.
 *
 * A file that cannot be read as an id is replaced: the server is synchronized again before it
 * counts.
 */
const DISK_ID_FILE = "disk-id";
const ID_BYTES = 8;

export function diskIdFile(directory: string): string {
  return join(directory, DISK_ID_FILE);
}

export function newDiskId(): string {
  return randomBytes(ID_BYTES).toString("hex");
}

/** Undefined where there is none. */
export function readDiskId(directory: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(diskIdFile(directory), "latin1").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  return /^[0-9a-f]{16}$/.test(text) ? text : undefined;
}

/**
 * A log was moved to another directory, and its id was left behind: it follows.
 *
 * @returns whether there was one
 */
export function fetchDiskId(from: string, to: string): boolean {
  const diskId = readDiskId(from);
  if (diskId === undefined) return false;
  writeDiskId(to, diskId);
  rmSync(diskIdFile(from));
  syncDirectoryOf(diskIdFile(from));
  return true;
}

/** Durable when it returns. */
export function writeDiskId(directory: string, diskId: string): void {
  const file = diskIdFile(directory);
  const made = file + UNFINISHED;
  const handle = openSync(made, "w", 0o600);
  try {
    writeSync(handle, `${diskId}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(made, file);
  syncDirectoryOf(file);
}
