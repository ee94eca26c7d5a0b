import { describe, expect, test } from "vitest";
import { UsageError } from "../usage-error.ts";
import { formatHosts, isLoopback, parseHosts, sourceAddress } from "./hosts.ts";

test.each([
  ["localhost", [{ name: "localhost", port: 2181 }]],
  ["127.0.0.1:1", [{ name: "127.0.0.1", port: 1 }]],
  [
    " a:1 , b ,",
    [
      { name: "a", port: 1 },
      { name: "b", port: 2181 },
    ],
  ],
  [
    "[::1]:9,[fe80::1]",
    [
      { name: "::1", port: 9 },
      { name: "fe80::1", port: 2181 },
    ],
  ],
])("%j is read", (text, expected) => {
  expect(parseHosts(text)).toEqual(expected);
  expect(parseHosts(formatHosts(expected))).toEqual(expected);
});

test.each(["", ",", "a:", "a:0", "a:65536", "a:x", "a:1/chroot", "::1", "[::1"])("%j is refused", (text) => {
  expect(() => parseHosts(text)).toThrow(UsageError);
});

test.each([
  ["localhost", true],
  ["127.0.0.1", true],
  ["127.9.9.9", true],
  ["::1", true],
  ["10.0.0.1", false],
  ["127.example.org", false],
  ["localhost.example.org", false],
])("whether %s is this machine: %s", (name, expected) => {
  expect(isLoopback({ name, port: 1 })).toBe(expected);
});

describe("connections to loopback come from more than one address", () => {
  const host = { name: "127.0.0.1", port: 1 };

  test("with at most fifty from each", () => {
    const counts = new Map<string | undefined, number>();
    for (let i = 0; i < 13_000; i++) {
      const address = sourceAddress(host, i, "linux");
      counts.set(address, (counts.get(address) ?? 0) + 1);
    }
    expect([...counts.values()].every((count) => count === 50)).toBe(true);
    expect([...counts.keys()].slice(0, 2)).toEqual(["127.0.0.1", "127.0.0.2"]);
    expect([...counts.keys()].at(-1)).toBe("127.0.1.4");
  });

  test("but only where that is possible", () => {
    expect(sourceAddress(host, 100, "darwin")).toBeUndefined();
    expect(sourceAddress({ name: "10.0.0.1", port: 1 }, 100, "linux")).toBeUndefined();
    expect(sourceAddress({ name: "localhost", port: 1 }, 100, "linux")).toBeUndefined();
  });
});
