import { AddWatchMode, assert, type IpRange, OpCode, parseProxyRange } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { read, watchOn } from "../testing/requests.ts";

const PROXIES = { ranges: [range("10.9.0.0/16")], share: 1 / 4 };

function range(text: string): IpRange {
  const parsed = parseProxyRange(text);
  assert(parsed !== undefined, "a range of proxies");
  return parsed;
}

describe("watches", () => {
  test("of a connection that is gone are removed some a turn, and its number is free after the last", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    for (let i = 0; i < 6000; i++) zk.send(ref, i, OpCode.EXISTS, read(`/w${i}`, true));
    zk.replica.disconnect(ref);
    expect(zk.replica.watches.watchCount).toBe(6000 - 256);
    expect(zk.open()).not.toBe(ref);
    expect(zk.finish()).toBe(2);
    expect([zk.replica.watches.watchCount, zk.open()]).toEqual([0, ref]);
  });

  test("of many connections that go at the same time are removed some a turn, however few each has", () => {
    const zk = new TestReplica();
    const refs = Array.from({ length: 20 }, () => zk.open());
    for (const ref of refs) for (let i = 0; i < 250; i++) zk.send(ref, i, OpCode.EXISTS, read(`/w${i}`, true));
    for (const ref of refs) zk.replica.disconnect(ref);
    expect(zk.replica.watches.watchCount).toBe(5000 - 4096);
    expect(zk.finish()).toBe(1);
    const again = new Set(refs.map(() => zk.open()));
    expect([zk.replica.watches.watchCount, again]).toEqual([0, new Set(refs)]);
  });

  test("of all connections have a bound, at which the one with the most is closed", () => {
    const zk = new TestReplica({ watchBytesMax: 450_000 });
    const [many, few] = [zk.open(), zk.open()];
    for (let i = 0; i < 3000; i++) zk.send(many, i, OpCode.EXISTS, read(`/w${i}`, true));
    zk.take(many);
    for (let i = 0; i < 3000 && !zk.take(many).includes("close"); i++) {
      zk.send(few, i, OpCode.EXISTS, read(`/v${i}`, true));
    }
    expect(zk.refusals).toEqual(["watch-limit"]);
    expect(zk.take(few)).not.toContain("close");
    expect(zk.replica.watches.countOf(few)).toBeLessThan(2000);
  });

  test("beyond the bound are counted again in the next turn, where those of the closed one are gone at once", () => {
    const zk = new TestReplica({ watchBytesMax: 20_000 });
    const ref = zk.open();
    for (let i = 0; i < 200 && !zk.take(ref).includes("close"); i++) {
      zk.send(ref, i, OpCode.EXISTS, read(`/w${i}`, true));
    }
    expect([zk.replica.watches.watchCount, zk.refusals]).toEqual([0, ["watch-limit"]]);
    expect(zk.replica.nextTickMs()).toBe(zk.replica.nowMs);
    zk.finish();
    expect(zk.replica.nextTickMs()).toBeUndefined();
  });

  test("beyond the bound are those of the address whose watches take most memory, however many they are", () => {
    const zk = new TestReplica({ watchBytesMax: 600_000 });
    // 500 short ones each, of one client.
    const victim = zk.open("10.0.0.1");
    for (let i = 0; i < 1500; i++) zk.send(victim, i, OpCode.EXISTS, read(`/v${i}`, true));
    const attackers = Array.from({ length: 10 }, () => zk.open("10.0.0.2"));
    const long = "x".repeat(2000);
    for (let i = 0; i < 400 && zk.refusals.length === 0; i++) {
      const ref = attackers[i % attackers.length];
      if (ref !== undefined) zk.send(ref, i, OpCode.EXISTS, read(`/${ref}/${i}${long}`, true));
    }
    expect(zk.refusals).toEqual(["watch-limit"]);
    expect(zk.replica.watches.countOf(victim)).toBe(1500);
    expect(Math.min(...attackers.map((ref) => zk.replica.watches.countOf(ref)))).toBe(0);
  });

  test("that are recursive count more: each change below them visits them all", () => {
    const countOf = (mode: AddWatchMode): number => {
      const zk = new TestReplica({ watchBytesMax: 300_000 });
      const refs = Array.from({ length: 4 }, () => zk.open());
      for (let i = 0; i < 4000 && zk.refusals.length === 0; i++) {
        const ref = refs[i % refs.length];
        if (ref !== undefined) zk.send(ref, i, OpCode.ADD_WATCH, watchOn(`/w${i}`, mode));
      }
      return zk.replica.watches.watchCount;
    };
    const [plain, recursive] = [countOf(AddWatchMode.PERSISTENT), countOf(AddWatchMode.PERSISTENT_RECURSIVE)];
    expect(recursive).toBeLessThan(300_000 / 512);
    expect(plain).toBeGreaterThan(3 * recursive);
  });

  test("beyond the bound close the connection that arms one more, if it has the most", () => {
    const zk = new TestReplica({ watchBytesMax: 300_000 });
    const [many] = [zk.open(), zk.open()];
    const heard: string[] = [];
    for (let i = 0; i < 20_000 && !heard.includes("close"); i++) {
      zk.send(many, i, OpCode.EXISTS, read(`/w${i}`, true));
      heard.push(...zk.take(many).slice(-1));
    }
    expect([heard.at(-1), zk.refusals]).toEqual(["close", ["watch-limit"]]);
  });

  test("armed while those of a closed connection are removed have their bound afterwards", () => {
    const zk = new TestReplica({ watchBytesMax: 900_000 });
    const [gone, many, few] = [zk.open(), zk.open(), zk.open()];
    zk.send(few, 0, OpCode.EXISTS, read("/w", true));
    for (let i = 0; i < 6000; i++) zk.send(gone, i, OpCode.EXISTS, read(`/w${i}`, true));
    zk.replica.disconnect(gone);
    for (let i = 0; i < 9000; i++) zk.send(many, i, OpCode.EXISTS, read(`/v${i}`, true));
    expect(zk.refusals).toEqual([]);
    zk.finish();
    expect(zk.refusals).toEqual(["watch-limit"]);
    expect([zk.replica.watches.countOf(many), zk.replica.watches.countOf(few)]).toEqual([0, 1]);
  });

  test("of connections that come by trusted proxies have a quarter together, beyond which the largest of these gives way", () => {
    const zk = new TestReplica({ watchBytesMax: 600_000, trustedProxies: PROXIES });
    const victim = zk.open("10.0.0.1");
    for (let i = 0; i < 1500; i++) zk.send(victim, i, OpCode.EXISTS, read(`/v${i}`, true));
    const many = zk.open("10.9.0.7");
    const others = Array.from({ length: 40 }, () => zk.open("10.9.0.7"));
    for (let i = 0; i < 400; i++) zk.send(many, i, OpCode.EXISTS, read(`/m${i}`, true));
    for (let i = 0; i < 12_000 && zk.refusals.length === 0; i++) {
      const ref = others[i % others.length];
      if (ref !== undefined) zk.send(ref, i, OpCode.EXISTS, read(`/${ref}/${i}`, true));
    }
    expect(zk.refusals).toEqual(["watch-limit"]);
    expect([zk.replica.watches.countOf(victim), zk.replica.watches.countOf(many)]).toEqual([1500, 144]);
  });

  test("of connections that come by trusted proxies stay while these have less than a quarter", () => {
    const zk = new TestReplica({ watchBytesMax: 600_000, trustedProxies: PROXIES });
    const [direct, proxied] = [zk.open("10.0.0.1"), zk.open("10.9.0.7")];
    for (let i = 0; i < 500; i++) zk.send(proxied, i, OpCode.EXISTS, read(`/p${i}`, true));
    for (let i = 0; i < 20_000 && zk.refusals.length === 0; i++)
      zk.send(direct, i, OpCode.EXISTS, read(`/v${i}`, true));
    expect([zk.refusals, zk.replica.watches.countOf(proxied)]).toEqual([["watch-limit"], 500]);
  });
});
