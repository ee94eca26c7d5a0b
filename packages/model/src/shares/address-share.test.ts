import { expect, test } from "vitest";
import { addressShare } from "./address-share.ts";

test.each([
  ["10.0.0.1", "10.0.0.2", false],
  ["10.0.0.1", "::ffff:10.0.0.1", true],
  ["2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true],
  ["2001:db8:1:2::1", "2001:db8:1:3::1", false],
  ["fe80::1%eth0", "fe80::2%eth1", true],
  ["::1", "0:0:0:0:0:0:0:2", true],
  ["::1", "127.0.0.1", false],
  ["", "unknown", false],
])("%j and %j have one share: %s", (one, other, isShared) => {
  expect(addressShare(one) === addressShare(other)).toBe(isShared);
});
