import { serverId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { type ConnectedStart, SecondHosts } from "./second-host.ts";

const start = (bootCount: number, startId: string, host = "zk-2"): ConnectedStart => ({ bootCount, startId, host });
const of = (connected: ConnectedStart): SecondHosts => new SecondHosts(serverId(2), connected);

test.each([
  ["itself", start(3, "a"), start(3, "a"), true],
  ["a later start", start(3, "a"), start(4, "b"), false],
  ["an earlier start", start(3, "a"), start(2, "b"), false],
  ["another start with the same count", start(3, "a"), start(3, "b"), false],
  ["itself without a name", start(3, ""), start(3, "b"), true],
  ["itself where the connected one has no name", start(3, "a"), start(3, ""), true],
  ["a later start without a name", start(3, ""), start(4, ""), false],
])("the connected start is compared with %s: %o, %o", (_, connected, other, isConnected) => {
  expect(of(connected).isConnected(other)).toBe(isConnected);
});

describe.each([
  ["a later start", start(4, "b", "zk-9")],
  ["an earlier start", start(2, "b", "zk-9")],
  ["a start with the same count", start(3, "b", "zk-9")],
])("%s", (_, other) => {
  test("waits for the answer of the connected one, which is asked once", () => {
    const hosts = of(start(3, "a"));
    const asked: number[] = [];
    const ask = (): number => {
      asked.push(7);
      return 7;
    };
    for (const answered of [undefined, 6]) {
      if (answered !== undefined) hosts.answered(answered);
      expect(hosts.refuse(other, ask).reason).toBe("duplicate");
    }
    expect(asked).toEqual([7]);
  });

  test("is refused with both places once the connected one has answered", () => {
    const hosts = of(start(3, "a"));
    hosts.refuse(other, () => 7);
    hosts.answered(7);
    hosts.answered(6);
    const { reason, text } = hosts.refuse(other, () => 8);
    expect(reason).toBe("configuration");
    expect(text).toContain(`(zk-2, start 3; this one: zk-9, start ${other.bootCount})`);
  });
});

test("the answer must follow the first attempt of each other start", () => {
  const hosts = of(start(3, "a"));
  hosts.refuse(start(4, "b"), () => 7);
  hosts.answered(7);
  expect(hosts.refuse(start(5, "c"), () => 8).reason).toBe("duplicate");
  hosts.answered(8);
  expect(hosts.refuse(start(5, "c"), () => 9).reason).toBe("configuration");
});

test("eight other starts are remembered, of two hundred that say the number", () => {
  const hosts = of(start(3, "a"));
  let asked = 0;
  const ask = (): number => ++asked;
  for (let i = 0; i < 200; i++) hosts.refuse(start(4, `copy ${i}`), ask);
  hosts.answered(200);
  for (let i = 199; i >= 192; i--) expect(hosts.refuse(start(4, `copy ${i}`), ask).reason).toBe("configuration");
  expect(hosts.refuse(start(4, "copy 191"), ask).reason).toBe("duplicate");
});
