import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a directory and the missing ones above it, one at a time: Node.js's own recursive form does
 * not end where the system answers ENOENT for a directory whose parent exists, as below `/proc`.
 *
 * @returns the directories that were made, outermost first
 * @throws the system's error
 */
export function makeDirectory(directory: string, mode?: number): readonly string[] {
  const missing: string[] = [];
  for (let each = directory; statSync(each, { throwIfNoEntry: false }) === undefined; each = dirname(each)) {
    missing.unshift(each);
    if (dirname(each) === each) break;
  }
  for (const each of missing) mkdirSync(each, mode);
  return missing;
}
