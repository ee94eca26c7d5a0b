/**
 * Keeps the lock file free of engine ranges, so that `npm ci` is quiet on every Node that package.json accepts.
 *
 * Some of our tools ask for a newer Node than the machine may have. They never run on it: each npm script runs on the
 * Node pinned as a dev dependency. npm cannot know that and warns about each of them at every install, from the ranges
 * that it copied into the lock file. `--write` drops those ranges (`npm run lock` does it after updating the file).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const file = join(import.meta.dirname, "..", "package-lock.json");
interface LockFile {
  readonly packages: Record<string, { readonly engines?: unknown; readonly [field: string]: unknown }>;
}
const lock = JSON.parse(readFileSync(file, "utf8")) as LockFile;
const ranged = Object.entries(lock.packages).filter(([place, entry]) => place !== "" && entry.engines !== undefined);

if (process.argv.includes("--write")) {
  for (const [place, { engines: _, ...rest }] of ranged) lock.packages[place] = rest;
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
} else if (ranged.length > 0) {
  const places = ranged.map(([place]) => place).join(", ");
  console.error(`package-lock.json holds engine ranges, which make npm ci warn: run "npm run lock" (${places})`);
  process.exitCode = 1;
}
