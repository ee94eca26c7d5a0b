import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Chain } from "../log/chain.ts";
import { StoreError } from "../store/store-error.ts";
import { Z } from "../testing/append-batches.ts";
import { ARCHIVE_START, fileBehind, rewriteFooter } from "../testing/archive-pieces.ts";
import { openFiles } from "../testing/open-files.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { ArchiveFile } from "./archive-file.ts";
import { listArchive, logFolderOf } from "./archive-folder.ts";
import type { ArchiveFooter } from "./archive-format.ts";

let place: TemporaryDirectory;
let file: string;
beforeEach(() => {
  place = new TemporaryDirectory();
  const archive = join(place.path, "archive");
  fileBehind(archive, ARCHIVE_START, [1000, 2000, 3000]);
  file = listArchive(logFolderOf(archive))[0]?.file ?? "";
});
afterEach(() => place[Symbol.dispose]());

function verify(): void {
  using archive = new ArchiveFile(file);
  archive.verify();
}

const other = (chain: Chain): Chain => BigInt.asUintN(64, chain + 1n) as Chain;

// The seed is drawn by the writer; `table` and `index` say where the parts are.
test.each<readonly [what: string, change: (footer: ArchiveFooter) => Partial<ArchiveFooter>]>([
  ["entries fewer", ({ entryCount }) => ({ entryCount: entryCount - 1 })],
  ["entries more", ({ entryCount }) => ({ entryCount: entryCount + 1 })],
  ["bytes fewer", ({ frameBytes }) => ({ frameBytes: frameBytes - 1 })],
  ["bytes more", ({ frameBytes }) => ({ frameBytes: frameBytes + 1 })],
  ["another chain at its end", ({ end }) => ({ end: { ...end, chain: other(end.chain) } })],
  ["another chain at its begin", ({ after }) => ({ after: { ...after, chain: other(after.chain) } })],
  ["an earlier end", ({ end }) => ({ end: { ...end, zxid: Z(1, 2) } })],
  ["a later end", ({ end }) => ({ end: { ...end, zxid: Z(1, 4) } })],
  ["another sum", () => ({ sha256: "0".repeat(64) })],
])("a file whose footer has %s is damaged", (_, change) => {
  expect(verify).not.toThrow();
  rewriteFooter(file, change);
  expect(verify).toThrow(StoreError);
  expect(verify).toThrow(`${file} is damaged`);
});

test("a damaged file is closed again, wherever the damage is", () => {
  const whole = readFileSync(file);
  let refusedCount = 0;
  for (let at = 0; at < whole.length; at += 7) {
    const flipped = Buffer.from(whole);
    flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
    for (const damage of [() => writeFileSync(file, flipped), () => truncateSync(file, at)]) {
      damage();
      try {
        verify();
      } catch {
        refusedCount++;
      }
      expect(openFiles()).not.toContain(file);
    }
  }
  expect(refusedCount).toBeGreaterThan(whole.length / 7);
});
