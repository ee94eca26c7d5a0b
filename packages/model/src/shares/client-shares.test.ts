import { describe, expect, test } from "vitest";
import type { IpRange } from "../addresses/ip-address.ts";
import { assert } from "../errors/assert.ts";
import { ClientShares, NO_PROXIES, parseProxyRange } from "./client-shares.ts";

function sharesWith(...texts: readonly string[]): ClientShares {
  const ranges = texts.map((text): IpRange => {
    const range = parseProxyRange(text);
    assert(range !== undefined, `${text} is a range`);
    return range;
  });
  return new ClientShares({ ranges, share: 1 / 4 });
}

describe("connections of trusted proxies", () => {
  test.each([
    ["10.9.0.5", "10.9.0.5", true],
    ["10.9.0.5", "10.9.0.6", false],
    ["10.9.0.0/30", "10.9.0.3", true],
    ["10.9.0.0/30", "10.9.0.4", false],
    ["10.9.0.5", "::ffff:10.9.0.5", true],
    ["::ffff:10.9.0.0/112", "10.9.200.1", true],
    ["::ffff:10.9.0.0/112", "10.10.0.1", false],
    ["2001:db8:9::/64", "2001:db8:9:0:1:2:3:4", true],
    ["2001:db8:9::/64", "2001:db8:9:1::1", false],
    ["2001:db8:9::1", "2001:db8:9::2", false],
    ["fe80::/10", "fe80::1%eth0", true],
    ["::/0", "10.9.0.5", false],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["10.9.0.5", "no address", false],
  ])("of %s include those from %s: %s", (range, address, isProxy) => {
    expect(sharesWith("192.0.2.1", range).isProxy(address)).toBe(isProxy);
  });

  test("have a share each, and are marked; others share by address", () => {
    const shares = sharesWith("10.9.0.0/16");
    expect([1, 2].map((ref) => shares.of("10.9.0.5", ref))).toEqual([
      { share: "10.9.0.5 1", isProxied: true },
      { share: "10.9.0.5 2", isProxied: true },
    ]);
    expect(shares.of("10.8.0.5", 1)).toEqual(shares.of("10.8.0.5", 2));
    expect(new ClientShares(NO_PROXIES).of("10.9.0.5", 1)).toEqual({ share: "10.9.0.5", isProxied: false });
  });
});

test.each(["", "10.0.0", "10.0.0.1/33", "10.0.0.1/", "10.0.0.1/-1", "2001:db8::/129", "proxy.example", "10.0.0.1/8/8"])(
  "%j is no range of proxies",
  (text) => {
    expect(parseProxyRange(text)).toBeUndefined();
  },
);
