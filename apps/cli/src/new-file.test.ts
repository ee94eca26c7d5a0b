import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NewFile } from "./new-file.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-new-file-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("what is written is in the file when the write resolves, and stays once it is kept", async () => {
  const path = join(directory, "a");
  const parts = ["x", "y"].map((letter) => letter.repeat(4_000_000));
  {
    await using file = await NewFile.open(path);
    for (const part of parts) {
      await file.write(part);
      expect(readFileSync(path, "utf8").endsWith(part)).toBe(true);
    }
    await file.keep();
  }
  expect(readFileSync(path, "utf8")).toBe(parts.join(""));
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a file that is not kept is removed", async () => {
  {
    await using file = await NewFile.open(join(directory, "a"));
    await file.write("half");
  }
  expect(readdirSync(directory)).toEqual([]);
});

test("a file that is there stays as it is", async () => {
  const path = join(directory, "a");
  writeFileSync(path, "old");
  await expect(NewFile.open(path)).rejects.toMatchObject({ code: "UNWRITABLE_FILE" });
  expect(readFileSync(path, "utf8")).toBe("old");
});

test("a write that fails is an error of the file", async () => {
  const path = join(directory, "a");
  const file = await NewFile.open(path);
  await file[Symbol.asyncDispose]();
  await expect(file.write("x")).rejects.toMatchObject({ code: "UNWRITABLE_FILE" });
  await expect(file.keep()).rejects.toMatchObject({ code: "UNWRITABLE_FILE" });
  expect(existsSync(path)).toBe(false);
});
