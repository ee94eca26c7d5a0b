import fc from "fast-check";
import { expect, test } from "vitest";
import { formatSessionId, type SessionId, sessionIdFromHalves, sessionIdHigh, sessionIdLow } from "./session.ts";

test("a session id comes back from its halves, with the top bit too", () => {
  const ids = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.constantFrom(0n, -1n, -(2n ** 63n)));
  fc.assert(
    fc.property(ids, (value) => {
      const id = value as SessionId;
      expect(sessionIdFromHalves(sessionIdHigh(id), sessionIdLow(id))).toBe(id);
    }),
  );
});

test("operators read it as unsigned hexadecimal", () => {
  expect(formatSessionId(sessionIdFromHalves(0x0100_075b, 0x00d1_5000))).toBe("0x100075b00d15000");
  expect(formatSessionId(-1n as SessionId)).toBe("0xffffffffffffffff");
});
