/** Each concept has one name in all sources: words that were replaced do not come back. */
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { oldWordsIn } from "./lint/vocabulary.ts";

const ROOT = resolve(import.meta.dirname, "..");
const HERE = ["tools/lint/vocabulary.ts", "tools/vocabulary.test.ts"];

test("no source has a word that another one has replaced", () => {
  const files = globSync(
    ["packages/*/{src,bench,scenarios,page/src}/**/*.{ts,tsx,txt,proto}", "apps/*/src/**/*.ts", "tools/**/*.ts"],
    {
      cwd: ROOT,
      exclude: ["**/gen/**"],
    },
  ).filter((file) => !HERE.includes(file));
  expect(files.length).toBeGreaterThan(1000);
  expect(files.flatMap((file) => oldWordsIn(file, readFileSync(resolve(ROOT, file), "utf8")))).toEqual([]);
});

test.each([
  ["packages/zab/src/a.ts", "if (this.hasVoice) return;"],
  ["packages/zab/src/a.ts", "this.#log.flipTo(history);"],
  ["packages/txn-log/src/a.ts", "/** A fold that found no room. */"],
  ["packages/server/src/a.ts", "await driver.handOver(withinMs);"],
  ["packages/replica/src/a.ts", "const told = this.#synced();"],
  ["apps/cli/src/a.ts", "goOn();"],
])("in %s, an old word is found: %s", (file, line) => {
  expect(oldWordsIn(file, `first\n${line}`)).toHaveLength(1);
});

test("a flipped bit, a folder and a lock's handover are no old words", () => {
  expect(oldWordsIn("packages/zab/src/a.ts", "// a flipped bit")).toEqual([]);
  expect(oldWordsIn("packages/txn-log/src/a.ts", "flip(file, 100); // into the folder")).toEqual([]);
  expect(oldWordsIn("packages/recipes/src/a.ts", "// the handover of a lock")).toEqual([]);
});
