import { expect, test } from "vitest";
import { dataJson, dataText, decodeBase64 } from "./data-text.ts";

test("data prints as UTF-8, none as null", () => {
  expect(dataText(Buffer.from("\ufeffgrüße"))).toBe("\ufeffgrüße");
  expect(dataText(Uint8Array.of(65, 0xff))).toBe("A\ufffd");
  expect(dataText(null)).toBe("null");
});

test("JSON keeps every byte: text where it is text, base64 where it is not", () => {
  expect(dataJson(Buffer.from("\ufeffgrüße"))).toEqual({ data: "\ufeffgrüße" });
  expect(dataJson(Uint8Array.of(65, 0xff))).toEqual({ data: "Qf8=", encoding: "base64" });
  expect(dataJson(null)).toEqual({ data: null });
});

test("base64 is read strictly, with its padding or without", () => {
  expect([...decodeBase64("Qf8=")]).toEqual([65, 0xff]);
  expect([...decodeBase64("Qf8")]).toEqual([65, 0xff]);
  expect(() => decodeBase64("!!!")).toThrow('the data is not base64: "!!!"');
  expect(() => decodeBase64("Q")).toThrow("not base64");
});
