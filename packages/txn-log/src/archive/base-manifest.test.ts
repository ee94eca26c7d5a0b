import { expect, test } from "vitest";
import { ARCHIVE_START } from "../testing/archive-pieces.ts";
import { ARCHIVE_FORMAT } from "./archive-format.ts";
import { type BaseManifest, encodeManifest, PART_BYTES_MAX, parseManifest, parsePartName } from "./base-manifest.ts";

const MANIFEST: BaseManifest = {
  format: ARCHIVE_FORMAT,
  ensembleId: "e1",
  position: ARCHIVE_START,
  epochs: [{ epoch: 1, first: 1, last: 7 }],
  digestHigh: -1,
  digestLow: 2,
  nodeCount: 4,
  sessionCount: 0,
  takenMs: 1000,
  parts: [{ bytes: 5, sha256: "a".repeat(64) }],
};

/** A manifest whose sum is right, whatever its fields are. */
function withFields(fields: object): Buffer {
  return encodeManifest({ ...MANIFEST, ...fields });
}

test("a written manifest is read unchanged", () => {
  expect(parseManifest(encodeManifest(MANIFEST), "m")).toEqual(MANIFEST);
});

test.each<readonly [what: string, fields: object]>([
  ["an ensemble id that is none", { ensembleId: 7 }],
  ["an ensemble id without end", { ensembleId: "x".repeat(1000) }],
  ["no epochs", { epochs: undefined }],
  ["an epoch beyond all", { epochs: [{ epoch: 2 ** 40, first: 1, last: 2 }] }],
  ["an epoch that is none", { epochs: [null] }],
  ["a digest that is a fraction", { digestHigh: 0.5 }],
  ["fewer nodes than none", { nodeCount: -1 }],
  ["a time that is none", { takenMs: "now" }],
  ["parts that are none", { parts: {} }],
  ["a part that is too large", { parts: [{ bytes: PART_BYTES_MAX + 1, sha256: "a".repeat(64) }] }],
  ["a part without a sum", { parts: [{ bytes: 1, sha256: "../../etc" }] }],
])("a manifest with %s is damaged, though its sum is right", (_, fields) => {
  expect(() => parseManifest(withFields(fields), "m")).toThrow(/^m is damaged at /);
});

test.each(["", "[]", "{}\nx\n", "7\n"])("%j is no manifest", (text) => {
  expect(() => parseManifest(Buffer.from(text), "m")).toThrow(/^m is damaged at /);
});

test("a newer format is named", () => {
  expect(() => parseManifest(withFields({ format: 99 }), "m")).toThrow("m has format 99");
});

test("each byte of a manifest counts", () => {
  const bytes = encodeManifest(MANIFEST);
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 0x10;
    expect(() => parseManifest(damaged, "m")).toThrow("m is damaged at ");
  }
});

test.each(["0000", "0099", "12345"])("%s is the name of a part", (name) => {
  expect(parsePartName(name)).toBe(Number(name));
});
test.each(["", "0", "00000", "00a0", "../0", "0000 ", "999999", "1e03"])("%j is not", (name) => {
  expect(parsePartName(name)).toBeUndefined();
});
