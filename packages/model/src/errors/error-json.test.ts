import { expect, test } from "vitest";
import { errorJson } from "./error-json.ts";

test("an error's JSON has its name, code, message and fields, and its causes by name, code and message", () => {
  const root = Object.assign(new TypeError("reset"), { code: "ECONNRESET", secret: "not shown" });
  const cause = new Error("no answer", { cause: root });
  const fields = { code: "LOST", session: 0x1_0000n, at: 5, list: ["a", null, { b: true }], none: undefined };
  expect(errorJson(Object.assign(new RangeError("it is lost", { cause }), fields))).toEqual({
    name: "RangeError",
    code: "LOST",
    message: "it is lost",
    session: "0x10000",
    at: 5,
    list: ["a", null, { b: true }],
    cause: { name: "Error", message: "no answer", cause: { name: "TypeError", code: "ECONNRESET", message: "reset" } },
  });
});

test("data is its size and its beginning, as text where it is UTF-8", () => {
  const json = errorJson(new Error("x"), {
    text: Buffer.from("ü".repeat(1000)),
    cut: Buffer.from(`x${"ü".repeat(1000)}`),
    binary: new Uint8Array([255, 0]),
    empty: new Uint8Array(),
    none: null,
  });
  expect(json).toMatchObject({
    text: { bytes: 2000, text: "ü".repeat(32) },
    cut: { bytes: 2001, text: `x${"ü".repeat(31)}` },
    binary: { bytes: 2, base64: "/wA=" },
    empty: { bytes: 0, text: "" },
    none: null,
  });
});

test("long texts and lists, deep objects, circles and other causes are cut", () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const error = Object.assign(new Error("x".repeat(100_000), { cause: { why: "y" } }), {
    circle,
    list: Array.from({ length: 1000 }, (_, i) => i),
    more: "z".repeat(100_000),
  });
  const json = errorJson(error);
  expect(JSON.stringify(json).length).toBeLessThan(40_000);
  expect(json).toMatchObject({
    message: expect.stringMatching(/^x{16384}… \(100000 characters\)$/),
    list: expect.arrayContaining([0, 99, "900 more"]),
    more: expect.stringMatching(/^z{16000,16384}… \(100000 characters\)$/),
    cause: expect.any(Object),
  });
});
