import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseCommandLine } from "./command-line.ts";
import { readText } from "./configuration-text.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-text-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(bytes: Buffer): string {
  const path = join(directory, "zoo.cfg");
  writeFileSync(path, bytes);
  return path;
}

const TEXT = "# größer\ndataDir=/données\n";

test.each<[string, Buffer]>([
  ["UTF-8", Buffer.from(TEXT)],
  ["UTF-8 with a byte-order mark", Buffer.from(`\ufeff${TEXT}`)],
  ["ISO 8859-1, as Java reads it", Buffer.from(TEXT, "latin1")],
])("a file in %s is read", (_, bytes) => {
  expect(readText(file(bytes))).toBe(TEXT);
});

test.each<[string, Buffer]>([
  ["UTF-16 with a byte-order mark", Buffer.from(`\ufeff${TEXT}`, "utf16le")],
  ["UTF-16 without one", Buffer.from(TEXT, "utf16le")],
  ["no text", Buffer.from([0x53, 0x51, 0, 1])],
])("a file in %s ends the start with one sentence", (_, bytes) => {
  const path = file(bytes);
  expect(() => parseCommandLine([path])).toThrow(
    /^cannot read the configuration file \S+zoo\.cfg: it has bytes of value 0, as UTF-16 /,
  );
});
