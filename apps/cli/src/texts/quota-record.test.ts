import { describe, expect, test } from "vitest";
import { exceededWarnings, formatQuota, NO_LIMITS, parseQuota } from "./quota-record.ts";

test.each([
  "count=5,bytes=-1=;byteHardLimit=-1;countHardLimit=-1",
  "count=5,bytes=7",
  "count=2,bytes=100=;byteHardLimit=500;countHardLimit=50",
])("%s is written unchanged", (text) => {
  expect(formatQuota(parseQuota(text, "/q"))).toBe(text);
});

test.each([
  "garbage",
  "",
  "count=5",
  "bytes=7",
  "bytes=7=;byteHardLimit=500;countHardLimit=50",
  "count=5=;byteHardLimit=500;countHardLimit=50",
  "count=five,bytes=7",
  "count=5,bytes=",
])("a node whose data is %j is reported by its path", (text) => {
  expect(() => parseQuota(text, "/zookeeper/quota/q/zookeeper_limits")).toThrow(
    `/zookeeper/quota/q/zookeeper_limits holds no quota: ${JSON.stringify(text)}`,
  );
});

describe("a limit below what is there is warned of", () => {
  const COUNT = "[Warning]: the count quota you create is less than the existing count:3";
  const BYTES = "[Warning]: the bytes quota you create is less than the existing bytes:9";
  test.each([
    ["none at all", NO_LIMITS, []],
    ["equal", { ...NO_LIMITS, count: 3, bytes: 9 }, []],
    ["soft and hard, once", { ...NO_LIMITS, count: 2, countHardLimit: 1 }, [COUNT]],
    ["bytes, also zero", { ...NO_LIMITS, byteHardLimit: 0 }, [BYTES]],
    ["both", { ...NO_LIMITS, count: 0, bytes: 8 }, [COUNT, BYTES]],
  ])("%s", (_, limits, expected) => {
    expect(exceededWarnings(limits, { count: 3, bytes: 9 })).toEqual(expected);
  });
});
