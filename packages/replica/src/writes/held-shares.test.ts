import { assert, type Identity, parseProxyRange, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { HeldShares } from "./held-shares.ts";

const ip = (id: string): Identity => ({ scheme: "ip", id });
const A = [ip("10.0.0.1")];
const B = [ip("10.0.0.2")];

/** A write that comes when every one before it is applied. */
function admits(shares: HeldShares, identities: readonly Identity[], growthBytes: number, heldBytes: number): boolean {
  return shares.admits(identities, growthBytes, 1 as Zxid, { heldBytes, applied: 1 as Zxid });
}

test("a client may fill three quarters of the tree, and a sixteenth of the whole beyond", () => {
  const shares = new HeldShares(1600);
  expect(admits(shares, A, 1200, 0)).toBe(true);
  expect(admits(shares, A, 100, 1200)).toBe(true);
  expect(admits(shares, A, 1, 1300)).toBe(false);
  expect(admits(shares, B, 100, 1300)).toBe(true);
});

test("an identity has one share from all its addresses", () => {
  const shares = new HeldShares(1600);
  const user = { scheme: "sasl", id: "u" };
  expect(admits(shares, [...A, user], 60, 1200)).toBe(true);
  expect(admits(shares, [...B, user], 60, 1260)).toBe(false);
  expect(admits(shares, B, 60, 1260)).toBe(true);
});

test("identities that anybody can invent have no share of their own, and addresses of one /64 have one together", () => {
  const shares = new HeldShares(1600);
  expect(admits(shares, A, 100, 1200)).toBe(true);
  for (let i = 0; i < 5000; i++) {
    expect(admits(shares, [...A, { scheme: "digest", id: `u${i}:x` }], 1, 1300)).toBe(false);
  }
  expect(admits(shares, [ip("2001:db8:0:0:0:0:0:1")], 60, 1300)).toBe(true);
  expect(admits(shares, [ip("2001:db8:0:0:1:2:3:4")], 60, 1360)).toBe(false);
  expect(admits(shares, [ip("2001:db8:0:1:0:0:0:1")], 60, 1360)).toBe(true);
});

test("a charge is never forgotten: beyond some thousand addresses the smallest are counted together", () => {
  const shares = new HeldShares(16_000_000);
  const share = 1_000_000;
  let held = 12_000_001;
  const add = (identities: readonly Identity[], bytes: number): boolean => {
    const isAdmitted = admits(shares, identities, bytes, held);
    if (isAdmitted) held += bytes;
    return isAdmitted;
  };
  expect(add(A, share)).toBe(true);
  for (let i = 0; i < 10_000; i++) add([ip(`10.1.${i >> 8}.${i & 255}`)], 300);
  expect(add(A, 1)).toBe(false);
  // 4,095 have counts of their own, and those that were merged have one share together.
  expect(held - 12_000_001).toBeLessThanOrEqual(2 * share + 4096 * 300);
});

test("removed bytes give room to all clients again", () => {
  const shares = new HeldShares(1600);
  expect(admits(shares, A, 100, 1250)).toBe(true);
  expect(admits(shares, A, 50, 1350)).toBe(false);
  expect(admits(shares, A, 50, 1290)).toBe(true);
  expect(admits(shares, A, 50, 1340)).toBe(false);
});

test("shares are forgotten once the tree is no longer that full", () => {
  const shares = new HeldShares(1600);
  expect(admits(shares, A, 100, 1250)).toBe(true);
  expect(admits(shares, A, 10, 900)).toBe(true);
  expect(admits(shares, A, 100, 1250)).toBe(true);
});

test("a tree without a bound has no shares", () => {
  const shares = new HeldShares(Number.POSITIVE_INFINITY);
  for (let i = 0; i < 10; i++) expect(admits(shares, A, 1e15, i * 1e15)).toBe(true);
});

test("bytes in flight count as if they were applied", () => {
  const shares = new HeldShares(1600);
  const burst = (count: number, heldBytes: number, applied: number): readonly boolean[] =>
    Array.from({ length: count }, (_, i) =>
      shares.admits(A, 50, (applied + 1 + i) as Zxid, { heldBytes, applied: applied as Zxid }),
    );
  expect(burst(6, 1100, 0)).toEqual([true, true, true, true, false, false]);
  expect(burst(2, 1300, 6)).toEqual([false, false]);
});

test("discarded bytes are in flight no more", () => {
  const shares = new HeldShares(1600);
  expect(shares.admits(A, 100, 1 as Zxid, { heldBytes: 1150, applied: 0 as Zxid })).toBe(true);
  shares.discard();
  expect(shares.admits(A, 50, 1 as Zxid, { heldBytes: 1150, applied: 0 as Zxid })).toBe(true);
  expect(shares.admits(A, 100, 2 as Zxid, { heldBytes: 1150, applied: 0 as Zxid })).toBe(true);
});

test("clients of trusted proxies have a quarter of the last quarter together, but for those whose identity was proved", () => {
  const range = parseProxyRange("2001:db8:9::/48");
  assert(range !== undefined, "a range of proxies");
  const shares = new HeldShares(1600, { ranges: [range], share: 1 / 4 });
  const proxied = (last: number): Identity => ip(`2001:db8:9:${last}:0:0:0:1`);
  const user = { scheme: "sasl", id: "u" };
  expect(admits(shares, [proxied(1)], 60, 1200)).toBe(true);
  expect(admits(shares, [proxied(2), { scheme: "digest", id: "x:y" }], 41, 1260)).toBe(false);
  expect(admits(shares, [proxied(2)], 40, 1260)).toBe(true);
  expect(admits(shares, [proxied(3), user], 100, 1300)).toBe(true);
  expect(admits(shares, [proxied(4), user], 1, 1400)).toBe(false);
  expect(admits(shares, A, 100, 1400)).toBe(true);
});
