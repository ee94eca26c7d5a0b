import { describe, expect, test } from "vitest";
import { parseConfiguration } from "./configuration.ts";
import { serverId } from "./server-id.ts";
import { catchingOf, leaderThatMoves, type MemberStates, missingVoters, spareText } from "./server-states.ts";

describe("the servers that may fail", () => {
  const majority = (count: number) =>
    parseConfiguration(Array.from({ length: count }, (_, at) => `server.${at + 1}=h${at}:1:2;3`).join("\n")).members;
  test.each([
    [1, [1], "none of them may fail"],
    [3, [1, 2, 3], "1 of them may fail"],
    [4, [1, 2, 3, 4], "1 of them may fail"],
    [5, [1, 2, 3, 5], "1 of them may fail"],
    [5, [1, 2, 3, 4, 5], "2 of them may fail"],
    [3, [1, 3], "none of them may fail"],
    [3, [1], "they are no quorum"],
  ])("of %i voters with %j serving", (count, serving, text) => {
    expect(spareText(majority(count), serving.map(serverId))).toBe(text);
  });

  test("are counted by weights where there are groups", () => {
    const text = "server.1=a:1:2;3\nserver.2=b:1:2;3\nserver.3=c:1:2;3\ngroup.1=1:2:3\nweight.1=3\nversion=1";
    expect(spareText(parseConfiguration(text).members, [1, 2, 3].map(serverId))).toBe("none of them may fail");
  });
});

const { members } = parseConfiguration("server.1=a:1:2;3\nserver.2=b:1:2;3\nserver.3=c:1:2:observer;3\nversion=1");
const others: MemberStates = new Map([
  [serverId(1), { mode: "leader", zxid: "0x200000005" }],
  [serverId(2), { mode: "follower", zxid: "0x200000004" }],
]);

describe("a server that joins is", () => {
  test.each<[string, Parameters<typeof catchingOf>[0]["status"], number | undefined, object]>([
    ["synced with everything", { mode: "observer", zxid: "0x200000005" }, 4, { kind: "synced" }],
    ["behind", { mode: "observer", zxid: "0x200000001" }, undefined, { kind: "behind", lag: 4 }],
    ["behind by an epoch", { mode: "observer", zxid: "0x100000009" }, 4, { kind: "behind", lag: undefined }],
    ["alone", { mode: "standalone", zxid: "0x900000001" }, 4, { kind: "alone" }],
    ["the leader of another ensemble", { mode: "leader", zxid: "0x900000001" }, 4, { kind: "alone" }],
    ["another server", { mode: "observer", zxid: "0x200000005" }, 2, { kind: "other-server", found: 2 }],
    ["down", "no connection", undefined, { kind: "not-serving", reason: "no connection" }],
  ])("%s", (_, status, reportedSid, expected) => {
    expect(catchingOf({ sid: serverId(4), status, reportedSid }, others)).toEqual(expected);
  });
});

test("voters that do not serve are named only where the others are no quorum", () => {
  expect(missingVoters(members, new Set([1, 2].map(serverId)))).toEqual([]);
  expect(missingVoters(members, new Set([1].map(serverId)))).toEqual([2]);
});

test("the leadership moves if the leader has no vote after the change", () => {
  expect(leaderThatMoves(members, others)).toBeUndefined();
  expect(leaderThatMoves(members, new Map([[serverId(3), { mode: "leader", zxid: "0x1" }]]))).toBe(3);
});
