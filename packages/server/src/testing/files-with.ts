import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ArchiveFile } from "@zooid/txn-log/sqlite";

const ARCHIVED = /^[0-9a-f]{16}-[0-9a-f]{16}$/;

/**
 * The files below a directory that have some bytes anywhere: free pages and segments kept ready are
 * looked through as well, and the blocks of a history both as they are and uncompressed.
 */
export function filesWith(directory: string, bytes: string | Buffer): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => {
      const file = join(directory, name);
      if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return false;
      return readFileSync(file).includes(bytes) || isInArchive(file, bytes);
    })
    .sort();
}

function isInArchive(file: string, bytes: string | Buffer): boolean {
  if (!ARCHIVED.test(file.split("/").at(-1) ?? "")) return false;
  using archive = new ArchiveFile(file);
  let isFound = false;
  for (const number of archive.blocks.keys()) {
    archive.walkBlock(number, (_zxid, frames, start, end) => {
      isFound ||= Buffer.from(frames.buffer, frames.byteOffset + start, end - start).includes(bytes);
    });
  }
  return isFound;
}
