import { serverId } from "@zooid/model";
import { parseConfiguration } from "@zooid/model/membership";
import { expect, test } from "vitest";
import { listedMembers, memberTable, verdictOf } from "./member-list.ts";
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
  const rest = { latencyMs: undefined, connections: 0, outstanding: 0, nodes: 5, unlisted: [] };
  return { mode, zxid, version: "3.9.5", zooidVersion: "0.1.0", ...rest };
}

test("members have their addresses, vote, state and distance from the newest", () => {
  const states = new Map([
    [serverId(1), report("leader", "0x100000009")],
    [serverId(2), report("follower", "0x100000004")],
  ]);
  const found = { group: null, version: "3.9.5", zooidVersion: "0.1.0" };
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
  expect(memberTable(listedMembers(members, states)).map((line) => line.slice(-19))).toEqual([
    ...[
      expect.stringMatching(/ VERSION$/),
      "zooid 0.1.0 (3.9.5)",
      "zooid 0.1.0 (3.9.5)",
      expect.stringMatching(/ \?$/),
    ],
  ]);
});

test("without a leader the ensemble is not well", () => {
  const states = new Map([[serverId(1), "no answer in time"]]);
  expect(verdictOf(members, states).isWell).toBe(false);
});
