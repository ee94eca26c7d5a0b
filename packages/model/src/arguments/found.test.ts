import { expect, test } from "vitest";
import { found, foundBytes } from "./found.ts";

test.each([
  ["a", '"a"'],
  ["a\u001b[2J\u202e\u009b\n", '"a\\u001b[2J\\u202e\\u009b\\n"'],
  ["x".repeat(61), `"${"x".repeat(60)}…"`],
  [[1], "an array"],
  [{}, "an object"],
  [null, "null"],
  [undefined, "undefined"],
  [5n, "5n"],
  [() => 1, "a function"],
])("%o is shown as %s", (value, text) => {
  expect(found(value)).toBe(text);
});

test.each([
  ["SSH-2.0-OpenSSH_9.6\r\n", '"SSH-2.0-OpenSSH_9.6"'],
  ["220 mail.example ESMTP\r\nmore", '"220 mail.example ESMTP"'],
  ["é".repeat(500), `"${"é".repeat(60)}…"`],
  [`${"x".repeat(239)}é`, `"${"x".repeat(60)}…"`],
  ["", "nothing"],
  ["\r\n\r\n", "4 bytes that are no text"],
  [Buffer.from([0, 0, 0, 5, 255]), "5 bytes that are no text"],
  [Buffer.from([0x15, 3, 3, 0, 2, 2, 70]), "a TLS record"],
  [Buffer.from([0x4a, 0, 0, 0, 0x0a, 0x38]), "6 bytes that are no text"],
])("received %o is shown as %s", (bytes, text) => {
  expect(foundBytes(Buffer.from(bytes as string))).toBe(text);
});
