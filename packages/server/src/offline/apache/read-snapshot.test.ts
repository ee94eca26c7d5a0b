import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ApacheTree } from "@zooid/txn-log/sqlite";
import { APACHE_SNAPSHOT } from "@zooid/txn-log/testing/apache-snapshot";
import { afterEach, beforeEach, expect, test } from "vitest";
import { snappyStream } from "../../testing/snappy.ts";
import { readSnapshot } from "./read-snapshot.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-snapshot-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const FORMS: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ["", (bytes) => bytes],
  [".gz", (bytes) => gzipSync(bytes)],
  [".snappy", snappyStream],
];

function put(name: string, bytes: Uint8Array): string {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return file;
}

test.each(FORMS)("a snapshot%s is read, with its last zxid", async (suffix, pack) => {
  const tree = new ApacheTree();
  const bytesMax = APACHE_SNAPSHOT.length;
  expect(await readSnapshot(put(`snapshot.14${suffix}`, pack(APACHE_SNAPSHOT)), tree, bytesMax)).toBe(0x14n);
  expect([tree.nodes.size, tree.ephemeralCount]).toEqual([18, 2]);
});

test.each(FORMS.slice(1))(
  "a snapshot%s that unpacks to more than there is room for is refused",
  async (suffix, pack) => {
    const file = put(`snapshot.14${suffix}`, pack(APACHE_SNAPSHOT));
    const bytesMax = APACHE_SNAPSHOT.length - 1;
    const text = `${file} unpacks to more than the memory that is left, ${bytesMax} bytes`;
    await expect(readSnapshot(file, new ApacheTree(), bytesMax)).rejects.toMatchObject({ problems: [text] });
  },
);

test.each(FORMS.slice(1))("a snapshot%s that is packed in another form is damaged", async (suffix) => {
  const file = put(`snapshot.14${suffix}`, APACHE_SNAPSHOT);
  const failure = readSnapshot(file, new ApacheTree(), 1e9);
  await expect(failure).rejects.toMatchObject({ detail: { code: "DAMAGED", file, place: "its compressed form" } });
});
