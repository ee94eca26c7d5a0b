import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseCommandLine } from "./configuration/command-line.ts";
import { estateFiles, writeEstate } from "./testing/estate-files.ts";

const FILES = estateFiles();

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "zooid-estate-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("sixty shapes of existing files are there", () => {
  expect(FILES.length).toBeGreaterThanOrEqual(60);
});

describe("a file as existing estates have it is taken, and names what has no effect", () => {
  test.each(FILES)("$name", (file) => {
    const command = parseCommandLine([writeEstate(file, directory)]);
    if (command.kind !== "serve") throw new Error("a file starts a server");
    expect(withoutEffect(command.warnings)).toEqual(file.withoutEffect);
  });
});

/** The keys of the lines that are named in warnings. */
function withoutEffect(warnings: readonly string[]): readonly string[] {
  return warnings.flatMap((warning) => /^(\S+) \(line \d+/.exec(warning)?.[1] ?? []);
}
