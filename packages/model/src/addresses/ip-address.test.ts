import { describe, expect, test } from "vitest";
import { isInIpRange, isIpRange, javaAddress } from "./ip-address.ts";

describe("addresses as Java prints them", () => {
  test.each([
    ["127.0.0.1", "127.0.0.1"],
    ["::1", "0:0:0:0:0:0:0:1"],
    ["::ffff:10.1.2.3", "10.1.2.3"],
    ["::ffff:0a01:0203", "10.1.2.3"],
    ["2001:db8::00ff", "2001:db8:0:0:0:0:0:ff"],
    ["fe80::1%eth0", "fe80:0:0:0:0:0:0:1"],
    ["nonsense", "nonsense"],
    ["", ""],
  ])("%s is %s", (text, java) => {
    expect(javaAddress(text)).toBe(java);
  });
});

describe("what may stand in an access list", () => {
  test.each([
    ["1.2.3.4", true],
    ["1.2.3.4/0", true],
    ["1.2.3.4/32", true],
    ["1.2.3.4/33", false],
    ["1.2.3.4/-1", false],
    ["1.2.3.4/", false],
    ["1.2.3.4/8/8", false],
    ["1.2.3", false],
    ["1.2.3.256", false],
    ["1.2.3.4.5", false],
    [" 1.2.3.4", false],
    ["::", true],
    ["::1/128", true],
    ["::1/129", false],
    ["2001:db8::/32", true],
    ["1:2:3:4:5:6:7:8", true],
    ["1:2:3:4:5:6:7", false],
    ["1::2::3", false],
    ["1:2:3:4:5:6:7::8", false],
    ["::12345", false],
    ["::ffff:1.2.3.4", true],
    ["localhost", false],
    ["", false],
  ])("%s: %s", (text, isValid) => {
    expect(isIpRange(text)).toBe(isValid);
  });
});

describe("an address in a range", () => {
  test.each([
    ["10.1.2.3", "10.1.2.3", true],
    ["10.1.2.3", "10.1.2.4", false],
    ["10.1.2.3", "10.0.0.0/8", true],
    ["11.1.2.3", "10.0.0.0/8", false],
    ["10.1.2.3", "10.1.3.0/23", true],
    ["10.1.4.3", "10.1.2.0/23", false],
    ["10.1.2.3", "0.0.0.0/0", true],
    ["10.1.2.3", "10.255.255.255/8", true],
    ["192.168.0.129", "192.168.0.128/25", true],
    ["192.168.0.127", "192.168.0.128/25", false],
    ["0:0:0:0:0:0:0:1", "::1", true],
    ["2001:db8:0:0:0:0:0:1", "2001:db8::/32", true],
    ["2001:db9:0:0:0:0:0:1", "2001:db8::/32", false],
    ["2001:db8:8000:0:0:0:0:1", "2001:db8::/33", false],
    ["10.1.2.3", "::/0", false],
    ["0:0:0:0:0:0:0:1", "0.0.0.0/0", false],
    ["nonsense", "0.0.0.0/0", false],
  ])("%s in %s: %s", (address, range, isIn) => {
    expect(isInIpRange(address, range)).toBe(isIn);
  });
});
