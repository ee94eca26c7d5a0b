import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ARCHIVE_START, fileBehind } from "../testing/archive-pieces.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { ArchiveFile } from "./archive-file.ts";
import { listArchive, logFolderOf } from "./archive-folder.ts";
import { type ArchiveFooter, BLOCK_FRAMES_MAX, encodeFooter, parseArchiveTail, ROW_BYTES } from "./archive-format.ts";
import { packed } from "./zstd.ts";

let place: TemporaryDirectory;
let file: string;
beforeEach(() => {
  place = new TemporaryDirectory();
  const archive = join(place.path, "archive");
  fileBehind(archive, ARCHIVE_START, [1000, 2000, 3000]);
  file = listArchive(logFolderOf(archive))[0]?.file ?? "";
});
afterEach(() => place[Symbol.dispose]());

test("the last bytes of a file say what the file says of itself", () => {
  const bytes = readFileSync(file);
  const { length: size } = bytes;
  expect(parseArchiveTail(bytes.subarray(20), { file, size })).toEqual(footerOf());
  for (const start of [size, size - 3, size - 16, size - 40])
    expect(() => parseArchiveTail(bytes.subarray(start), { file, size })).toThrow(`${file} is damaged at`);
});

test("a block that is unpacked to more than any has is refused before it is unpacked", () => {
  const bytes = readFileSync(file);
  const footer = footerOf();
  const { at } = footer.table;
  const row = Buffer.alloc(ROW_BYTES);
  row.writeUInt32LE(BLOCK_FRAMES_MAX + 1, 8);
  const table = packed(row);
  const index = bytes.subarray(footer.index.at, footer.index.at + footer.index.length);
  const changed: ArchiveFooter = {
    ...footer,
    table: { at, length: table.length },
    index: { at: at + table.length, length: index.length },
  };
  writeFileSync(file, Buffer.concat([bytes.subarray(0, at), table, index, encodeFooter(changed)]));
  using opened = new ArchiveFile(file);
  expect(() => opened.blocks).toThrow(`${file} is damaged at block 0: ${BLOCK_FRAMES_MAX + 1} bytes of frames`);
});

function footerOf(): ArchiveFooter {
  using opened = new ArchiveFile(file);
  return opened.footer;
}
