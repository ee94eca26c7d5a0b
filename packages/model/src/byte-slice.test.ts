import fc from "fast-check";
import { expect, test } from "vitest";
import {
  copyBytes,
  copyRange,
  copySlice,
  emptySlice,
  setSlice,
  sliceEquals,
  sliceOf,
  sliceText,
} from "./byte-slice.ts";

test("a copy is its holder's, also of a Buffer", () => {
  const buffer = Buffer.from("0123456789");
  const slice = { bytes: buffer, start: 2, end: 5 };
  const copies = [copySlice(slice), copyRange(buffer, 2, 5)];
  buffer.fill(0);
  for (const copy of copies) expect(Buffer.from(copy).toString()).toBe("234");
});

test("bytes are copied to their place and nowhere else, whatever their number", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(20), fc.nat(20), (bytes, from, to) => {
      const source = Uint8Array.of(...new Uint8Array(from), ...bytes);
      const target = new Uint8Array(to + bytes.length + 5).fill(255);
      copyBytes(source, from, source.length, target, to);
      expect(target).toEqual(Uint8Array.of(...new Uint8Array(to).fill(255), ...bytes, ...new Uint8Array(5).fill(255)));
    }),
  );
});

test("slices are equal by what they hold, not by where it lies", () => {
  const inside = emptySlice();
  setSlice(inside, new TextEncoder().encode("xxabcxx"), 2, 5);
  expect(sliceEquals(inside, sliceOf("abc"))).toBe(true);
  expect(sliceEquals(inside, sliceOf("abd"))).toBe(false);
  expect(sliceEquals(inside, sliceOf("ab"))).toBe(false);
  expect(sliceEquals(emptySlice(), sliceOf(""))).toBe(true);
});

test("text is the same whatever holds its bytes, well-formed or not", () => {
  const byte = fc.oneof(fc.nat(255), fc.constantFrom(0x61, 0x80, 0xbf, 0xc3, 0xe2, 0xed, 0xef, 0xf0, 0xf4));
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 12 }), (values) => {
      const bytes = Uint8Array.from(values);
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      expect(sliceText({ bytes, start: 0, end: bytes.length })).toBe(text);
      expect(sliceText({ bytes: Buffer.concat([Buffer.of(1), bytes]), start: 1, end: bytes.length + 1 })).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test("text keeps a byte order mark, and malformed bytes become U+FFFD", () => {
  expect(sliceText(sliceOf("\ufeffa"))).toBe("\ufeffa");
  expect(sliceText({ bytes: Uint8Array.of(0x61, 0xff), start: 0, end: 2 })).toBe("a\ufffd");
});
