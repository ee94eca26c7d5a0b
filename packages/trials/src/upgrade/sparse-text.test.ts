import fc from "fast-check";
import { expect, test } from "vitest";
import { sparseBytes, sparseText } from "./sparse-text.ts";

test("bytes of any content are read back, and zeros take no room", () => {
  const run = fc.oneof(
    fc.uint8Array({ maxLength: 100 }),
    fc.nat(300).map((length) => new Uint8Array(length)),
  );
  fc.assert(
    fc.property(fc.array(run, { maxLength: 6 }), (runs) => {
      const bytes = Buffer.concat(runs);
      expect(sparseBytes(sparseText(bytes))).toEqual(bytes);
    }),
  );
  expect(sparseText(Buffer.alloc(1_000_000))).toBe("1000000\n");
});

test.each(["4\n0 zz", "4\n3 0102", "4\nno line"])("%j is refused", (text) => {
  expect(() => sparseBytes(text)).toThrow("not an offset and bytes");
});
