import { expect, test } from "vitest";
import { printable } from "./logger.ts";

test.each([
  ["a plain line, zażółć 日本", "a plain line, zażółć 日本"],
  ["two\nlines\r", "two\\u000alines\\u000d"],
  ["\u001b[31mred\u009b0m", "\\u001b[31mred\\u009b0m"],
  ["line\u2028break\u2029", "line\\u2028break\\u2029"],
  ["right\u202eto left\u2066", "right\\u202eto left\\u2066"],
  ["nul\0 del\u007f", "nul\\u0000 del\\u007f"],
])("%j is logged as one line that does nothing to a terminal", (text, line) => {
  expect(printable(text)).toBe(line);
});

test("no line is longer than 2000 characters of what came", () => {
  expect(printable("x".repeat(1_000_000))).toHaveLength(2000);
});

test("every character is escaped or shown by itself as it is among others", () => {
  for (let point = 0; point < 0x3000; point++) {
    const char = String.fromCodePoint(point);
    // Behind what is escaped in any case, no character is looked at all at once.
    expect(printable(`\0${char}`)).toBe(`\\u0000${printable(char)}`);
  }
});
