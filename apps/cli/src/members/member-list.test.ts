import { serverId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { parseConfiguration } from "./configuration.ts";
import { listedMembers, spareText, verdictOf } from "./member-list.ts";
import type { ServerStatus } from "./server-status.ts";

const { members } = parseConfiguration(
  [
    "server.1=a:2888:3888:participant;0.0.0.0:2181",
    "server.2=[::2]:2888:3888:participant;127.0.0.1:2182",
    "server.3=c:2888:3888:observer",
    "version=100000007",
  ].join("\n"),
);

function report(mode: string, zxid: string): ServerStatus {
  const rest = { latencyMs: undefined, connections: 0, outstanding: 0, nodes: 5 };
  return { mode, zxid, version: "3.9.5", ...rest };
}

test("members have their addresses, vote, state and distance from the newest", () => {
  const states = new Map([
    [serverId(1), report("leader", "0x100000009")],
    [serverId(2), report("follower", "0x100000004")],
  ]);
  const found = { group: null, version: "3.9.5" };
  expect(listedMembers(members, states)).toMatchObject([
    {
      ...found,
      id: 1,
      address: "a:2888:3888",
      clients: "a:2181",
      role: "participant",
      weight: 1,
      state: "leader",
      lag: 0,
    },
    { ...found, id: 2, address: "[::2]:2888:3888", clients: "127.0.0.1:2182", state: "follower", lag: 5 },
    { id: 3, clients: null, role: "observer", weight: 0, state: null, lag: null, error: expect.any(String) },
  ]);
  expect(verdictOf(members, states).isWell).toBe(true);
});

test("without a leader the ensemble is not well", () => {
  const states = new Map([[serverId(1), "no answer in time"]]);
  expect(verdictOf(members, states).isWell).toBe(false);
});

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
