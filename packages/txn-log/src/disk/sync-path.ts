import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Makes names in a directory durable: SQLite itself ignores it when this fails. */
export function syncDirectoryOf(file: string): void {
  syncPath(dirname(file));
}

export function syncPath(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
