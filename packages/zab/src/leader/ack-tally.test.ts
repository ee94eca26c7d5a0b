import {
  composeZxid,
  HierarchicalQuorum,
  jointVerifier,
  MajorityQuorum,
  type ServerId,
  serverId,
  type Zxid,
} from "@zooid/model";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AckTally } from "./ack-tally.ts";

const START = composeZxid(1, 0);
const zxid = (counter: number): Zxid => composeZxid(1, counter);
const sids = (count: number): ServerId[] => Array.from({ length: count }, (_, i) => serverId(i + 1));

describe("an entry commits with the ack of a majority", () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 3],
    [5, 3],
  ])("of %i voters it is the ack of the %ith", (voters, needed) => {
    const tally = new AckTally(new MajorityQuorum(sids(voters)), START);
    for (const [i, sid] of sids(voters).entries()) {
      expect(tally.ack(sid, zxid(1))).toBe(i + 1 === needed);
      expect(tally.committed).toBe(i + 1 >= needed ? zxid(1) : START);
    }
  });
});

test("an ack counts for everything before it", () => {
  const tally = new AckTally(new MajorityQuorum(sids(3)), START);
  tally.ack(serverId(1), zxid(10));
  expect(tally.ack(serverId(2), zxid(7))).toBe(true);
  expect(tally.committed).toBe(zxid(7));
  expect(tally.ack(serverId(3), zxid(9))).toBe(true);
  expect(tally.committed).toBe(zxid(9));
});

test("servers that are no voters count for nothing", () => {
  const tally = new AckTally(new MajorityQuorum(sids(3)), START);
  for (const observer of [7, 8, 9]) expect(tally.ack(serverId(observer), zxid(5))).toBe(false);
  expect(tally.ack(serverId(1), zxid(5))).toBe(false);
  expect(tally.ack(serverId(2), zxid(5))).toBe(true);
});

test("groups are asked as groups", () => {
  const voters = [1, 1, 1, 2, 2, 2, 3, 3, 3].map((group, i) => ({ sid: serverId(i + 1), group, weight: 1 }));
  const tally = new AckTally(new HierarchicalQuorum(voters), START);
  for (const sid of [1, 2, 3, 4]) expect(tally.ack(serverId(sid), zxid(1))).toBe(false);
  expect(tally.ack(serverId(5), zxid(1))).toBe(true);
});

describe("while the configuration changes", () => {
  const present = new MajorityQuorum(sids(3));
  const next = new MajorityQuorum([3, 4, 5].map(serverId));
  const both = { ...jointVerifier(present, next) };

  function changing(from: number): AckTally {
    const tally = new AckTally(present, START);
    tally.change(both, zxid(from));
    return tally;
  }

  test("entries before the change need the present voters, also where their acks name later entries", () => {
    const tally = changing(5);
    tally.ack(serverId(1), zxid(9));
    expect(tally.ack(serverId(2), zxid(8))).toBe(true);
    expect(tally.committed).toBe(zxid(4));
  });

  test("the change and what follows need both", () => {
    const tally = changing(5);
    for (const sid of [3, 4, 5]) tally.ack(serverId(sid), zxid(9));
    expect(tally.committed).toBe(START);
    tally.ack(serverId(1), zxid(7));
    expect(tally.committed).toBe(zxid(7));
  });

  test("once it is committed, the new voters count alone", () => {
    const tally = changing(5);
    for (const sid of [4, 5]) tally.ack(serverId(sid), zxid(9));
    for (const sid of [1, 2]) tally.ack(serverId(sid), zxid(5));
    expect(tally.committed).toBe(zxid(5));
    expect(tally.changed(next)).toBe(true);
    expect(tally.committed).toBe(zxid(9));
  });
});

test("an ack that goes back is a defect", () => {
  const tally = new AckTally(new MajorityQuorum(sids(3)), START);
  tally.ack(serverId(1), zxid(5));
  expect(() => tally.ack(serverId(1), zxid(4))).toThrow("acks of server 1 go up");
});

test("in whatever order acks come, the commit point is what a majority has, and never goes back", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.tuple(fc.nat(4), fc.integer({ min: 0, max: 9 })), { maxLength: 60 }),
      (voters, acks) => {
        const tally = new AckTally(new MajorityQuorum(sids(voters)), START);
        const held = new Array<number>(voters).fill(0);
        for (const [who, more] of acks) {
          const i = who % voters;
          held[i] = (held[i] ?? 0) + more;
          const before = tally.committed;
          const moved = tally.ack(serverId(i + 1), zxid(held[i] ?? 0));
          const sorted = [...held].sort((a, b) => b - a);
          expect(tally.committed).toBe(zxid(sorted[Math.floor(voters / 2)] ?? 0));
          expect(moved).toBe(tally.committed > before);
        }
      },
    ),
  );
});
