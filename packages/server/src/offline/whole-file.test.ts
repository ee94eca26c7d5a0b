import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeWhole } from "./whole-file.ts";

function pieces(...texts: readonly string[]): () => Promise<Uint8Array | undefined> {
  const left = texts.map((text) => Buffer.from(text));
  return async () => left.shift();
}

test("a file has all pieces, in order, and only its owner reads it", async () => {
  await using place = await mkdtempDisposable(join(tmpdir(), "zooid-whole-"));
  const file = join(place.path, "snapshot");
  expect(await writeWhole(file, pieces("one", "", "two"))).toBe(6);
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["onetwo", 0o600]);
  expect(await writeWhole(file, pieces())).toBe(0);
  expect(readFileSync(file, "utf8")).toBe("");
  expect(readdirSync(place.path)).toEqual(["snapshot"]);
});

test("while it is written, and where the pieces fail, the file of that name is the one before", async () => {
  await using place = await mkdtempDisposable(join(tmpdir(), "zooid-whole-"));
  const file = join(place.path, "snapshot");
  let count = 0;
  const failing = async (): Promise<Uint8Array> => {
    expect(existsSync(file)).toBe(count > 2);
    if (++count % 3 === 0) throw new Error("the source failed");
    return Buffer.from("piece");
  };
  await expect(writeWhole(file, failing)).rejects.toThrow("the source failed");
  expect(readdirSync(place.path)).toEqual([]);
  writeFileSync(file, "before");
  await expect(writeWhole(file, failing)).rejects.toThrow("the source failed");
  expect([readdirSync(place.path), readFileSync(file, "utf8")]).toEqual([["snapshot"], "before"]);
});
