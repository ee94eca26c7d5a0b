import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Imports and exports of values, as they are written. */
const IMPORT = /^(?:import|export)\b(?! type\b)[^;]*?\bfrom "([^"]+)";/gm;

/** An entry that threads load too: its files are looked at as their own. */
const FOLLOWED: ReadonlyMap<string, string> = new Map([["@zooid/wire/apache", "packages/wire/src/apache.ts"]]);

const root = join(import.meta.dirname, "..");
const threads = globSync("packages/txn-log/src/*/*-thread.ts", { cwd: root });

test.each(threads)("%s imports the part of the model for storage alone", (thread) => {
  const [files, packages] = [new Set([join(root, thread)]), new Set<string>()];
  for (const file of files) {
    for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(IMPORT)) {
      const entry = FOLLOWED.get(specifier);
      if (entry !== undefined) files.add(join(root, entry));
      else if (specifier.startsWith(".")) files.add(join(file, "..", specifier));
      else if (specifier.startsWith("@zooid/")) packages.add(specifier);
    }
  }
  expect([...packages].filter((name) => name !== "@zooid/model/storage")).toEqual([]);
});

test("every thread is looked at", () => {
  expect(threads.length).toBeGreaterThan(6);
});
