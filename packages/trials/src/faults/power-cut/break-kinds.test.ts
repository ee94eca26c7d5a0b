import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BREAKS, broken, isBreakKind } from "./break-kinds.ts";

const ROOT = join(import.meta.dirname, "../../../../..");
const kinds = Object.keys(BREAKS).filter(isBreakKind);

test.each(kinds)("%s finds the code that it changes", (kind) => {
  const file = join(ROOT, "packages/txn-log/src", `${BREAKS[kind].module}.ts`);
  const code = readFileSync(file, "utf8");
  const damaged = broken(kind, code);
  expect(damaged).not.toBe(code);
  expect(() => broken(kind, damaged)).toThrow(/matches .* times/);
});

test("code that looks otherwise is an error, and not a server that works", () => {
  expect(() => broken("synchronous-normal", "export {};")).toThrow(
    "matches disk/database 0 times; it should match once",
  );
});
