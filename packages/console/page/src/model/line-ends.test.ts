import { expect, test } from "vitest";
import { withLineEndsOf, withNewlines } from "./line-ends.ts";

const shown = (text: string): string => text.replaceAll("\r", "r").replaceAll("\n", "n");

test.each([
  ["a\nb\n", "a\nB\nc\n", "anBncn"],
  ["a", "a\nb", "anb"],
  ["a\r\nb\r\n", "a\nB\n", "arnBrn"],
  ["a\r\nb\r\n", "a\nb\nc\n", "arnbrncrn"],
  ["a\r\nb", "", ""],
  ["a\rb\rc", "a\nx\nc", "arxrc"],
  // Mixed line ends: unchanged lines keep theirs.
  ["a\r\nb\nc\r\nd\r\n", "a\nb\nC\nd\n", "arnbnCrndrn"],
  ["a\nb\r\nc\nd\n", "x\na\nb\nc\nd\n", "xnanbrncndn"],
  ["a\nb\r\nc", "a\nb\nc", "anbrnc"],
  ["\r\n\r\n\n", "\n\n\n", "rnrnn"],
])("%j that is edited to %j", (original, edited, expected) => {
  expect(shown(withLineEndsOf(original, edited))).toBe(expected);
});

test.each(["", "a", "a\r\nb\nc\rd", "\r\n\n\r\r\n", "\n\r"])("%j that is not edited stays as it is", (text) => {
  expect(withLineEndsOf(text, withNewlines(text))).toBe(text);
});
