import { describe, expect, test } from "vitest";
import { type Asked, readinessOf } from "./readiness.ts";
import type { FollowerReport, StandbyReport, StandbyState } from "./reports.ts";

const MARK = { digest: "00000000000000aa", chain: "00000000000000bb" };
const FOLLOWER: FollowerReport = {
  state: "following",
  server: "zk2:2888",
  epoch: 7,
  zxid: 0x7_0000_0020,
  lagTransactions: 0,
  lagMs: 0,
  digest: "equal",
  digestsCompared: 12,
  snapshots: 1,
  resyncs: 0,
  lastError: undefined,
  mark: MARK,
};
const STANDBY: StandbyState = {
  ...MARK,
  zxid: FOLLOWER.zxid,
  nodes: 10,
  sessions: 2,
  ensembleId: "e1",
  behindMs: 500,
};

function follower(changes: Partial<FollowerReport> = {}): Asked<FollowerReport> {
  return { url: "http://f:8080", found: { ...FOLLOWER, ...changes } };
}

/** The n-th member. */
function member(
  n: number,
  changes: Partial<StandbyState> = {},
  report: Partial<StandbyReport> = {},
): Asked<StandbyReport> {
  const standby = { ...STANDBY, ...changes };
  return {
    url: `http://m${n}:8080`,
    found: { clients: "closed", standby, hasTakenOver: false, lastError: undefined, ...report },
  };
}

test("a follower that is level, and members with its state, block nothing: the take-over is next", () => {
  expect(readinessOf(follower(), [member(1), member(2)])).toEqual({
    blockers: [],
    remarks: [],
    isEqual: true,
    next: "zooid-cli migrate take-over --follower http://f:8080 --members http://m1:8080,http://m2:8080 --plan",
  });
});

test("without members the comparison of all nodes is next", () => {
  const { blockers, isEqual, next } = readinessOf(follower(), []);
  expect([blockers, isEqual]).toEqual([[], undefined]);
  expect(next).toContain("migrate compare --apache HOST:2181,... --follower http://f:8080");
});

describe("a take-over is blocked", () => {
  test.each<[string, Partial<FollowerReport>, string]>([
    [
      "while no leader is found",
      { state: "searching", lastError: "zk1:2888: refused" },
      "the follower does not follow the ensemble now, it is searching: zk1:2888: refused",
    ],
    ["while a snapshot is installed", { state: "installing" }, "it is installing"],
    ["by a lag", { lagTransactions: 900, lagMs: 1001 }, "900 transactions and 1001 ms behind"],
    ["by another digest", { digest: "different" }, "another digest than Apache's"],
    ["before the first equal digest", { digest: "not-equal-yet" }, "no digest of Apache's was that of the follower's"],
  ])("%s", (_, changes, sentence) => {
    const { blockers, next } = readinessOf(follower(changes), []);
    expect(blockers).toEqual([expect.stringContaining(sentence)]);
    expect(next).toBe("zooid-cli migrate status --follower http://f:8080 --watch");
  });

  test.each<[string, Asked<StandbyReport>, string]>([
    ["by an open client port", member(2, {}, { clients: "open" }), "its client port is open"],
    [
      "by a member without a state",
      member(2, {}, { standby: undefined, lastError: "no base" }),
      "http://m2:8080: it has no standby state: no base",
    ],
    [
      "by a member that has taken over",
      member(2, {}, { standby: undefined, hasTakenOver: true }),
      "has taken over already",
    ],
    ["by an old state", member(2, { zxid: 0x7_0000_0001, behindMs: 60_001 }), "is 60001 ms old"],
    [
      "by a member without a report",
      { url: "http://m2:8080", found: "connection refused" },
      "m2:8080: connection refused",
    ],
    ["by another digest at one zxid", member(2, { digest: "cc" }), "http://m2:8080 has digest cc and chain"],
    ["by another chain at one zxid", member(2, { chain: "cc" }), "and chain cc"],
    ["by another archive", member(2, { ensembleId: "e2" }), "of another follower's archive than http://m1:8080"],
    ["by a state ahead of the follower", member(2, { zxid: 0x7_0000_0021 }), "ahead of the follower at 0x700000020"],
  ])("%s", (_, second, sentence) => {
    const { blockers, next } = readinessOf(follower(), [member(1), second]);
    expect(blockers).toContainEqual(expect.stringContaining(sentence));
    expect(next).toBe(
      "zooid-cli migrate status --follower http://f:8080 --members http://m1:8080,http://m2:8080 --watch",
    );
  });
});

test("members at different transactions are not compared, which blocks nothing", () => {
  const { blockers, remarks, isEqual } = readinessOf(follower(), [member(1), member(2, { zxid: 0x7_0000_0010 })]);
  expect([blockers, isEqual]).toEqual([[], undefined]);
  expect(remarks).toEqual([expect.stringContaining("http://m1:8080 at 0x700000020, http://m2:8080 at 0x700000010")]);
});

test("members at one zxid must have one state, wherever the follower is", () => {
  const ahead = follower({ zxid: 0x8_0000_0001, mark: undefined });
  expect(readinessOf(ahead, [member(1), member(2)])).toMatchObject({ blockers: [], isEqual: true });
  expect(readinessOf(ahead, [member(1), member(2, { digest: "cc" })])).toMatchObject({ isEqual: false });
});

test("an ensemble without digests is a remark", () => {
  const { blockers, remarks } = readinessOf(follower({ digest: "none" }), []);
  expect([blockers, remarks]).toEqual([[], [expect.stringContaining("migrate compare")]]);
});
