import { expect, test } from "vitest";
import { hashWords, WordHash } from "./digest.ts";
import { create, remove, setAcl, setData, TestTree } from "./testing/tree.ts";

function hashOf(bytes: Uint8Array): number {
  const words = new Int32Array(Math.ceil(bytes.length / 4) + 2).fill(-1);
  new Uint8Array(words.buffer).set(bytes, 4);
  return hashWords(words, 1, bytes.length);
}

test("every bit of the data counts, and so does the length, and nothing behind the end", () => {
  const hashes = new Set<number>();
  let tried = 0;
  for (let length = 0; length <= 33; length++) {
    const bytes = new Uint8Array(length).fill(7);
    hashes.add(hashOf(bytes));
    tried++;
    for (let bit = 0; bit < length * 8; bit++) {
      bytes[bit >> 3] ^= 1 << (bit & 7);
      hashes.add(hashOf(bytes));
      tried++;
      bytes[bit >> 3] ^= 1 << (bit & 7);
    }
    expect(hashOf(bytes)).toBe(hashOf(Uint8Array.from(bytes)));
  }
  expect(hashes.size).toBe(tried);
});

test("a run of words hashes like the words one by one", () => {
  const words = [1, -1, 0, 0x7fff_ffff, -0x8000_0000, 5];
  const view = new DataView(new ArrayBuffer(words.length * 4 + 8));
  for (const [i, word] of words.entries()) view.setInt32(8 + i * 4, word);
  const run = new WordHash();
  run.start(3);
  run.words(view, 8, words.length);
  const single = new WordHash();
  single.start(3);
  for (const word of words) single.word(word);
  expect([run.high, run.low]).toEqual([single.high, single.low]);
});

test("the digest of known content never changes", () => {
  const bytes = Uint8Array.from({ length: 29 }, (_, i) => i * 11);
  expect(hashOf(bytes)).toBe(KNOWN.data);
  const test = new TestTree();
  expect(test.digest()).toBe(KNOWN.newTree);
});

test("whatever a client can change, changes the digest", () => {
  const digests = new Set<string>();
  const test = new TestTree();
  const note = () => digests.add(test.digest());
  note();
  const acl = [
    { perms: 31, scheme: "world", id: "anyone" },
    { perms: 1, scheme: "ip", id: "127.0.0.1" },
  ];
  const requests = [
    create("/a", { data: null }),
    setData("/a", ""),
    setData("/a", "x"),
    setAcl("/a", acl),
    setAcl("/a", acl),
    create("/a/b"),
    remove("/a/b"),
    create("/c", { flags: 1 }),
  ];
  for (const request of requests) {
    expect(test.commit(request)).toBe(0);
    note();
  }
  test.proposeSession(1, 1);
  test.applyAll();
  note();
  expect(digests.size).toBe(requests.length + 2);
});

/** Servers of different versions compare digests: these numbers are a promise. */
const KNOWN = { data: -1381221135, newTree: "-1573822368 1760980130" };
