import { BUDGETS } from "@zooid/model";
import { expect, test } from "vitest";
import { longMultiPriceUs, WriteShares, type WritingConnection, writePriceUs } from "./write-shares.ts";

const at = (share: string): WritingConnection => ({
  share,
  isProxied: share.startsWith("proxy"),
  workUs: 0,
  addressWork: undefined,
});

test("a connection has a quarter of the work in flight, an address half, and another address its own", () => {
  const shares = new WriteShares({ writeWorkUsMax: 1000 });
  const [one, two, three, other] = [at("a"), at("a"), at("a"), at("b")];
  shares.charge(one, 200);
  expect([shares.admits(one, 50), shares.admits(one, 51), shares.admits(two, 51)]).toEqual([true, false, true]);
  shares.charge(two, 250);
  expect([shares.admits(three, 50), shares.admits(three, 51), shares.admits(other, 51)]).toEqual([true, false, true]);
  shares.discharge(one, 200);
  expect(shares.admits(three, 51)).toBe(true);
});

test("one small write of each address goes ahead, however much is in flight", () => {
  const shares = new WriteShares({ writeWorkUsMax: 1000 });
  const [a, b] = [at("a"), at("b")];
  expect(shares.admits(a, 40_000)).toBe(true);
  shares.charge(a, 40_000);
  expect([shares.admits(a, 3), shares.admits(b, 124)]).toEqual([false, true]);
  shares.charge(b, 3);
  expect(shares.admits(b, 3)).toBe(false);
  shares.discharge(a, 40_000);
  shares.discharge(b, 3);
  expect([shares.totalUs, a.workUs, shares.admits(a, 250)]).toEqual([0, 0, true]);
});

test("a large write waits for that of another address, unless both are within the whole", () => {
  const shares = new WriteShares({ writeWorkUsMax: 1000 });
  const [a, b, c] = [at("a"), at("b"), at("c")];
  shares.charge(c, 3);
  shares.charge(a, 500);
  expect([shares.admits(b, 498), shares.admits(b, 497)]).toEqual([false, true]);
  shares.discharge(a, 500);
  expect(shares.admits(b, 40_000)).toBe(true);
});

test("an address with writes in flight is never forgotten, and one without is, however many come", () => {
  const shares = new WriteShares({ writeWorkUsMax: 1000 });
  const first = at("a");
  shares.charge(first, 600);
  const idle = at("idle");
  shares.charge(idle, 3);
  shares.discharge(idle, 3);
  for (let i = 0; i < 10_000; i++) expect(shares.admits(at(`other ${i}`), 3)).toBe(true);
  expect(shares.addressCount).toBeLessThanOrEqual(1024);
  expect(shares.admits(at("a"), 3)).toBe(false);
  // One that was forgotten is counted again, once for all of its connections.
  shares.charge(idle, 600);
  expect([shares.admits(at("idle"), 3), shares.totalUs]).toEqual([false, 1200]);
});

test("connections of trusted proxies have a quarter together, of which each may have all", () => {
  const shares = new WriteShares({ writeWorkUsMax: 1000 });
  const connections = Array.from({ length: 100 }, (_, i) => at(`proxy ${i}`));
  const admitted = connections.filter((connection) => {
    const isAdmitted = shares.admits(connection, 50);
    if (isAdmitted) shares.charge(connection, 50);
    return isAdmitted;
  });
  expect([admitted.length, shares.admits(at("a"), 50)]).toEqual([5, true]);
  for (const connection of admitted) shares.discharge(connection, 50);
  const [one, two] = connections as [WritingConnection, WritingConnection];
  expect(shares.admits(one, 5000)).toBe(true);
  shares.charge(one, 5000);
  expect(shares.admits(two, 3)).toBe(false);
});

test("a write costs by its bytes, and a long multi as if they were small parts", () => {
  const { workUs, largeFrom } = BUDGETS.writesInFlight;
  expect(writePriceUs(100)).toBe(3);
  expect(writePriceUs(1 << 20)).toBeGreaterThan(workUs * largeFrom);
  expect(longMultiPriceUs(64 * 1024)).toBeGreaterThan(workUs * largeFrom);
  expect(longMultiPriceUs(1 << 20)).toBeGreaterThan(workUs);
});
