/**
 * Copies the files of a folder into another one, each synced, and the folder after them: for a
 * record that begins with a disk on which all of them are.
 *
 *     node packages/trials/src/faults/power-cut/copy-synced.ts FROM TO
 */
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const [, , from = "", to = ""] = process.argv;
for (const name of readdirSync(from)) {
  const bytes = readFileSync(join(from, name));
  const file = openSync(join(to, name), "w", 0o600);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
  fsyncSync(file);
  closeSync(file);
}
const folder = openSync(to, "r");
fsyncSync(folder);
closeSync(folder);
