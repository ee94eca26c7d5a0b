import { expect, test } from "vitest";
import { shownText, textOf } from "./shown-text.ts";

test("control characters and marks of direction are escaped, tabs and letters stay", () => {
  expect(shownText("a\tb é 漢")).toBe("a\tb é 漢");
  expect(shownText("\u001b[2J\r\u0085\u202e")).toBe("\\x1b[2J\\x0d\\x85\\u202e");
});

test("bytes that are no UTF-8, or have a zero, are no text", () => {
  expect(textOf(Buffer.from("é"))).toBe("é");
  expect(textOf(null)).toBe("");
  expect(textOf(Uint8Array.of(0xff))).toBeUndefined();
  expect(textOf(Uint8Array.of(0x61, 0))).toBeUndefined();
});
