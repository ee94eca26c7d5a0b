import { expect, test } from "vitest";
import { hexDumpLines } from "./hex-dump.ts";

test("sixteen bytes a row, what cannot be printed as a dot, the last row filled up", () => {
  const bytes = Uint8Array.of(0, 0x1f, 0x20, 0x7e, 0x7f, 0x80, 0xff, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74);
  expect(hexDumpLines(bytes).join("\n")).toBe(`\
         +-------------------------------------------------+
         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |
+--------+-------------------------------------------------+----------------+
|00000000| 00 1f 20 7e 7f 80 ff 41 42 43 44 45 46 47 48 49 |.. ~...ABCDEFGHI|
|00000010| 4a                                              |J               |
+--------+-------------------------------------------------+----------------+`);
});

test("no bytes are one empty line", () => {
  expect(hexDumpLines(new Uint8Array())).toEqual([""]);
});
