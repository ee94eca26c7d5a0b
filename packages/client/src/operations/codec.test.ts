import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { gzip, json, raw, text } from "./codec.ts";

test("values round-trip", () => {
  const value = { name: "jürgen", list: [1, null] };
  for (const codec of [json<typeof value>(), gzip(json<typeof value>())]) {
    expect(codec.decode(codec.encode(value))).toEqual(value);
  }
  expect(text.decode(text.encode("größe"))).toBe("größe");
  expect(raw.decode(raw.encode(new Uint8Array([0, 255])))).toEqual(new Uint8Array([0, 255]));
});

test("a missing payload decodes to empty text and bytes, compressed or not", () => {
  expect([text.decode(null), gzip(text).decode(null), gzip(text).decode(new Uint8Array())]).toEqual(["", "", ""]);
  expect(raw.decode(null)).toEqual(new Uint8Array());
});

test("compressed payloads are standard gzip", () => {
  const packed = gzip(text).encode("x".repeat(10_000));
  expect(packed.length).toBeLessThan(100);
  expect(String(gunzipSync(packed))).toBe("x".repeat(10_000));
  expect(String(gzip().decode(Buffer.concat([gzipSync("two "), gzipSync("members")])))).toBe("two members");
});

test("payloads that are not gzip, damaged or too large are refused", () => {
  const packed = Buffer.from(gzip(text).encode("x".repeat(10_000)));
  expect(() => gzip(text).decode(Buffer.from("plain"))).toThrow("incorrect header check");
  expect(() => gzip(text).decode(packed.subarray(0, 20))).toThrow("unexpected end of file");
  expect(() => gzip(text, 9_999).decode(packed)).toThrow(RangeError);
});
