import { expect, test } from "vitest";
import { formatQuotaText, parseQuotaText } from "./quota-text.ts";

const UNLIMITED = { count: -1, bytes: -1, countHardLimit: -1, byteHardLimit: -1, rest: "" };

test.each([
  ["", UNLIMITED],
  ["count=5,bytes=-1", { ...UNLIMITED, count: 5 }],
  ["bytes=7;count=+05", { ...UNLIMITED, count: 5, bytes: 7 }],
  [
    "count=1,bytes=2=;byteHardLimit=3;countHardLimit=4",
    { count: 1, bytes: 2, byteHardLimit: 3, countHardLimit: 4, rest: "=;byteHardLimit=3;countHardLimit=4" },
  ],
  ["zz=9,aa=8", { ...UNLIMITED, rest: "=;aa=8;zz=9" }],
  ["count==3", UNLIMITED],
  ["count=1;;,;bytes=2,", { ...UNLIMITED, count: 1, bytes: 2 }],
  [",", UNLIMITED],
])("%j is read as ZooKeeper reads it", (text, expected) => {
  expect(parseQuotaText(text)).toEqual(expected);
});

test.each(["x", "count", "count=", ",count=1", "count=1.5", "count=one", "count= 1", "count=9223372036854775808"])(
  "%j is no quota's text to ZooKeeper either",
  (text) => {
    expect(parseQuotaText(text)).toBeUndefined();
  },
);

test("what was read is written with count and bytes first, and the others sorted", () => {
  const text = parseQuotaText("z=1;bytes=2,a=3");
  expect(text && formatQuotaText(text)).toBe("count=-1,bytes=2=;a=3;z=1");
});
