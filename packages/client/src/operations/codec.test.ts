import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { z } from "zod";
import { gzip, json, raw, text } from "./codec.ts";
import type { StandardSchema } from "./standard-schema.ts";

test("values round-trip", () => {
  const value = { name: "jürgen", list: [1, null] };
  for (const codec of [json<typeof value>(), gzip(json<typeof value>())]) {
    expect(codec.decode(codec.encode(value))).toEqual(value);
  }
  expect(text.decode(text.encode("größe"))).toBe("größe");
  // A byte order mark belongs to a text, and not to JSON.
  expect(text.decode(text.encode("\ufeffgröße"))).toBe("\ufeffgröße");
  expect(json().decode(Buffer.from("\ufeff1"))).toBe(1);
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

test("a schema checks decoded JSON, and its defaults apply", () => {
  const schema = z.object({ stock: z.number().int(), unit: z.string().default("pieces") });
  const codec = json(schema);
  expect(codec.decode(Buffer.from('{"stock":3}'))).toEqual({ stock: 3, unit: "pieces" });
  expect(codec.encode({ stock: 3, unit: "kg" })).toEqual(Buffer.from('{"stock":3,"unit":"kg"}'));
  expect(() => codec.decode(Buffer.from('{"stock":"3","unit":1}'))).toThrow(/^stock: .*; unit: .*/);
  expect(() => codec.decode(Buffer.from("3"))).toThrow(TypeError);
});

test("issues without a path, and with keys as objects, are named as the schema says", () => {
  const schema: StandardSchema<string> = {
    "~standard": {
      version: 1,
      vendor: "own",
      validate: () => ({ issues: [{ message: "wrong" }, { message: "late", path: [{ key: "a" }, 0] }] }),
    },
  };
  expect(() => json(schema).decode(Buffer.from("1"))).toThrow("wrong; a.0: late");
});

test("a schema that validates asynchronously is refused", () => {
  const schema: StandardSchema<string> = {
    "~standard": { version: 1, vendor: "own", validate: () => Promise.reject(new Error("too late")) },
  };
  expect(() => json(schema).decode(Buffer.from("1"))).toThrow("asynchronously");
});

test.each([
  ["text", text],
  ["json", json()],
])("bytes that are no UTF-8 are no value of %s", (_, codec) => {
  expect(() => codec.decode(Uint8Array.of(0x22, 0xff, 0xfe, 0x22))).toThrow(/encoded data was not valid/i);
});
