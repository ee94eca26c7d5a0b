import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readLocalFile } from "./local-file.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-cli-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const { signal } = new AbortController();

function pipe(name: string): string {
  const file = join(directory, name);
  execFileSync("mkfifo", [file]);
  return file;
}

test("a file is read up to the limit, and a larger one is refused", async () => {
  const file = join(directory, "file");
  writeFileSync(file, "12345");
  expect(await readLocalFile(file, { bytesMax: 5, signal })).toEqual({ bytes: Buffer.from("12345") });
  expect(await readLocalFile(file, { bytesMax: 4, signal })).toEqual({ sizeText: "5" });
  writeFileSync(file, "");
  expect(await readLocalFile(file, { bytesMax: 4, signal })).toEqual({ bytes: Buffer.alloc(0) });
});

test("a file without a size is read, and a device without an end is refused", async () => {
  expect((await readLocalFile("/proc/self/status", { bytesMax: 100_000, signal })).bytes?.toString()).toContain(
    "Name:",
  );
  expect(await readLocalFile("/dev/zero", { bytesMax: 100_000, signal })).toEqual({ sizeText: "more than 100000" });
});

test("a pipe is read until its writer ends, and no further than the limit", async () => {
  const file = pipe("written");
  for (const [bytesMax, expected] of [
    [5, { bytes: Buffer.from("12345") }],
    [4, { sizeText: "more than 4" }],
  ] as const) {
    const reading = readLocalFile(file, { bytesMax, signal });
    const writer = await open(file, "w");
    await writer.write("12345");
    await writer.close();
    expect(await reading).toEqual(expected);
  }
});

test("waiting for the writer of a pipe ends with the signal, with a writer and without", async () => {
  const file = pipe("silent");
  const alone = new AbortController();
  const waiting = readLocalFile(file, { bytesMax: 5, signal: alone.signal });
  alone.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  const behind = new AbortController();
  const reading = readLocalFile(file, { bytesMax: 5, signal: behind.signal });
  await using _writer = await open(file, "w");
  behind.abort();
  await expect(reading).rejects.toMatchObject({ name: "AbortError" });
});
