import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HierarchicalQuorum, jointVerifier, MajorityQuorum } from "./quorum.ts";
import { type ServerId, serverId } from "./server-id.ts";

const sids = (...values: number[]): ServerId[] => values.map(serverId);

describe("a majority", () => {
  test.each([
    [[1], [1], true],
    [[1], [], false],
    [[1, 2], [1], false],
    [[1, 2], [1, 2], true],
    [[1, 2, 3], [2], false],
    [[1, 2, 3], [2, 3], true],
    [[1, 2, 3], [3, 3, 3], false],
    [[1, 2, 3], [1, 7, 8, 9], false],
    [[1, 2, 3, 4], [1, 2], false],
    [[1, 2, 3, 4], [1, 2, 4], true],
    [[1, 2, 3, 4, 5], [1, 5], false],
    [[1, 2, 3, 4, 5], [1, 3, 5], true],
  ])("of %j with %j: %s", (voters, acked, isQuorum) => {
    expect(new MajorityQuorum(sids(...voters)).isQuorum(sids(...acked))).toBe(isQuorum);
  });
});

/** Groups in brackets; a voter is its number, with its weight where that is not 1. */
function hierarchy(...groups: (number | [sid: number, weight: number])[][]): HierarchicalQuorum {
  return new HierarchicalQuorum(
    groups.flatMap((members, group) =>
      members.map((member) => {
        const [sid, weight] = typeof member === "number" ? [member, 1] : member;
        return { sid: serverId(sid), group, weight };
      }),
    ),
  );
}

describe("a majority of groups, each by a majority of its weight", () => {
  const three = hierarchy([1, 2, 3], [4, 5, 6], [7, 8, 9]);
  const heavy = hierarchy([[1, 3], 2, 3], [4, 5, 6], [7, 8, 9]);
  const idle = hierarchy(
    [1, 2, 3],
    [4, 5, 6],
    [
      [7, 0],
      [8, 0],
    ],
  );
  test.each([
    ["two of three in two groups", three, [1, 2, 4, 5], true],
    ["all of one group and one of each other", three, [1, 2, 3, 4, 7], false],
    ["a heavy voter alone in its group", heavy, [1, 4, 5], true],
    ["the light ones without it", heavy, [2, 3, 4, 5], false],
    ["both groups that have weight", idle, [1, 2, 4, 5], true],
    ["one of them and the group without weight", idle, [1, 2, 3, 7, 8], false],
    ["one voter counted twice", hierarchy([1, 2, 3]), [1, 1], false],
    ["strangers", three, [20, 21, 22, 23], false],
    ["no server", three, [], false],
  ])("%s", (_, verifier, acked, isQuorum) => {
    expect(verifier.isQuorum(sids(...acked))).toBe(isQuorum);
  });
});

test("any two quorums meet, in majorities and in hierarchies", () => {
  const subset = fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const verifiers = [
    new MajorityQuorum(sids(1, 2, 3, 4, 5, 6, 7, 8, 9)),
    hierarchy([1, 2, 3], [[4, 2], 5, 6], [7, 8, 9]),
  ];
  fc.assert(
    fc.property(subset, fc.constantFrom(...verifiers), (some, verifier) => {
      const others = [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((sid) => !some.includes(sid));
      expect(verifier.isQuorum(sids(...some)) && verifier.isQuorum(sids(...others))).toBe(false);
    }),
  );
});

test("who has no weight may not lead", () => {
  expect([...new MajorityQuorum(sids(1, 2)).candidates]).toEqual([1, 2]);
  const old = hierarchy([1, [2, 0], 3]);
  expect([...old.candidates]).toEqual([1, 3]);
});

test("between two configurations, both must agree", () => {
  const both = jointVerifier(new MajorityQuorum(sids(1, 2, 3)), new MajorityQuorum(sids(3, 4, 5)));
  expect(both.isQuorum(sids(1, 2))).toBe(false);
  expect(both.isQuorum(sids(1, 3, 4))).toBe(true);
  expect(both.isQuorum(sids(1, 2, 4, 5).values())).toBe(true);
  expect(both.voters.size).toBe(5);
  expect([...both.candidates]).toEqual([1, 2, 3]);
});

test.each([255, -1, 1.5, Number.NaN])("%d is no server's number", (value) => {
  expect(() => serverId(value)).toThrow("a server id is a whole number from 0 to 254");
});
