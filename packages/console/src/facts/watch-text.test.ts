import { expect, test } from "vitest";
import { atOnce } from "./in-slices.ts";
import { watchesOf } from "./watch-text.ts";

const TEXT = "0x1\n\t/a\n\t/b\n0x2\n\t/c\n\t/d\n\t/e\n\n";

test("a session's watched paths are those below its line", () => {
  expect(atOnce(watchesOf(TEXT, "0x1", 10))).toEqual({ paths: ["/a", "/b"], isCut: false });
  expect(atOnce(watchesOf(TEXT, "0x3", 10))).toEqual({ paths: [], isCut: false });
});

test("a list that is cut says so", () => {
  expect(atOnce(watchesOf(TEXT, "0x2", 2))).toEqual({ paths: ["/c", "/d"], isCut: true });
  expect(atOnce(watchesOf(`${TEXT}... truncated\n`, "0x1", 10)).isCut).toBe(true);
});
