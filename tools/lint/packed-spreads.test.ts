/** An object literal that is spread into another one says no more than its properties there. */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const PACKED = /\.\.\.\{/;
const FILES = globSync("{packages,apps,examples,tools}/**/*.{ts,tsx}", {
  cwd: ROOT,
  exclude: ["**/node_modules/**", "**/dist/**", "**/gen/**"],
});

function packedLines(text: string): readonly number[] {
  return text.split("\n").flatMap((line, i) => (PACKED.test(line) ? [i + 1] : []));
}

test("no object literal is spread into another one", () => {
  expect(FILES.length).toBeGreaterThan(2000);
  const found = FILES.flatMap((file) =>
    packedLines(readFileSync(join(ROOT, file), "utf8")).map((line) => `${file}:${line}`),
  );
  expect(found).toEqual([]);
});

test("a packed literal is found, and a spread of a value is none", () => {
  const spread = "...";
  expect(packedLines(`const a = {\n  ${spread}{ b, c },\n  ${spread}rest,\n};`)).toEqual([2]);
});
