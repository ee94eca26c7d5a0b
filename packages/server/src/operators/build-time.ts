import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The time of the build, in seconds since 1970; `npm run build` writes the number into the compiled
 * file. 0: not set.
 */
const STAMP = 0;

/** The time of the build in the format of ZooKeeper's version line: `2026-11-22 01:15 UTC`. */
export function buildTime(stamp: number = STAMP): string {
  const seconds = stamp > 0 ? stamp : Math.floor(statSync(fileURLToPath(import.meta.url)).mtimeMs / 1000);
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
