import { expect, test } from "vitest";
import { tracesOfPage } from "./trace-page.ts";

test("a row adds its functions to each of its traces, and a file counts until another one is named", () => {
  const rows = "| WR | `a/b.ts:one`, `#two`, `c.ts:(run) =>` | what |\n| | **W** | |\n| R | `c.ts:three` | what |";
  const traces = tracesOfPage(`## One request, function by function\n\n${rows}\n\n## Next\n`);
  expect([...(traces.get("W") ?? [])]).toEqual(["a/b.ts:one", "a/b.ts:#two", "c.ts:(run) =>"]);
  expect([...(traces.get("R") ?? [])]).toEqual(["a/b.ts:one", "a/b.ts:#two", "c.ts:(run) =>", "c.ts:three"]);
});

test("the page has all six traces", () => {
  for (const functions of tracesOfPage().values()) expect(functions.size).toBeGreaterThan(80);
});
