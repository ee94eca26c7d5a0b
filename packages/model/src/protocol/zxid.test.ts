import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  composeZxid,
  counterOf,
  EPOCH_MAX,
  epochOf,
  formatZxid,
  nextZxid,
  parseZxid,
  zxidFromHalves,
  zxidHigh,
  zxidLow,
} from "./zxid.ts";

const epochs = fc.oneof(fc.nat(EPOCH_MAX - 1), fc.constantFrom(0, 1, EPOCH_MAX - 1));
const counters = fc.oneof(fc.nat(2 ** 32 - 1), fc.constantFrom(0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1));

test("epoch and counter come back from a zxid, its halves and its text, up to the last exact epoch", () => {
  fc.assert(
    fc.property(epochs, counters, (epoch, counter) => {
      const zxid = composeZxid(epoch, counter);
      expect([epochOf(zxid), counterOf(zxid)]).toEqual([epoch, counter]);
      expect(zxidFromHalves(zxidHigh(zxid), zxidLow(zxid))).toBe(zxid);
      expect(parseZxid(formatZxid(zxid))).toBe(zxid);
      expect(BigInt(zxid)).toBe((BigInt(epoch) << 32n) | BigInt(counter));
    }),
  );
});

test("zxids compare as epoch first, then counter", () => {
  fc.assert(
    fc.property(epochs, counters, epochs, counters, (e1, c1, e2, c2) => {
      expect(composeZxid(e1, c1) < composeZxid(e2, c2)).toBe(e1 < e2 || (e1 === e2 && c1 < c2));
    }),
  );
});

test("the last zxid of the last exact epoch still has a next one", () => {
  const last = composeZxid(EPOCH_MAX - 1, 2 ** 32 - 2);
  expect(nextZxid(last) - last).toBe(1);
});

test("-1, which some replies carry, is all ones on the wire", () => {
  expect([zxidHigh(-1), zxidLow(-1), zxidFromHalves(-1, -1)]).toEqual([-1, -1, -1]);
});

describe("text", () => {
  test.each([
    ["0x100000002", composeZxid(1, 2)],
    ["100000002", composeZxid(1, 2)],
    ["0X1F", composeZxid(0, 31)],
    ["0", composeZxid(0, 0)],
  ])("%s is read", (text, zxid) => {
    expect(parseZxid(text)).toBe(zxid);
  });

  test.each(["", "0x", "x1", "1g", "-1", " 1", "0x11112222333344445"])("%j is no zxid", (text) => {
    expect(() => parseZxid(text)).toThrow("a zxid is hexadecimal like 0x100000002");
  });

  test("an epoch beyond the exact ones is refused", () => {
    expect(() => parseZxid("0xffffffffffffffff")).toThrow("lies beyond epoch");
  });
});
