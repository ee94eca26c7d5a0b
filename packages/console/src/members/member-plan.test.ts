import { parseConfiguration } from "@zooid/model/membership";
import { expect, test } from "vitest";
import type { MemberChangeJson } from "../api/shapes.ts";
import { checkedPlan, type ServerStates, versionOf, versionText } from "./member-plan.ts";

const lineOf = (sid: number, role = "participant"): string => `server.${sid}=host${sid}:2888:3888:${role};0.0.0.0:2181`;
const CONFIGURATION = parseConfiguration(
  [lineOf(1), lineOf(2), lineOf(3), lineOf(4, "observer"), "version=100000007"].join("\n"),
);
const joinerOf = (sid: number, role = ""): string => `${sid}=host${sid}:2888:3888${role};2181`;

/**
 * Servers that answer: server 2 leads; every other follows with all data. Those that are left out
 * are down.
 */
function serversOf(down: readonly number[] = []): ServerStates {
  return {
    async statusOf({ sid }) {
      if (sid === null || down.includes(sid)) return "down";
      return { mode: sid === 2 ? "leader" : "follower", zxid: "0x100000009" };
    },
    reportedSid: async ({ sid }) => sid ?? undefined,
  };
}

async function planOf(change: MemberChangeJson, servers = serversOf()) {
  return (await checkedPlan(CONFIGURATION, change, servers)).plan;
}

test("the version of a configuration is the same as text and as a number", () => {
  expect(versionText(CONFIGURATION.members)).toBe("0x100000007");
  expect(versionOf("0x100000007")).toBe(0x100000007n);
});

test.each<{ change: MemberChangeJson; steps: readonly string[]; after: string | null; settings: number }>([
  {
    change: { kind: "add", server: joinerOf(5) },
    steps: ["Server 5 joins as a voter"],
    after: null,
    settings: 1,
  },
  {
    change: { kind: "add", server: joinerOf(5, ":observer") },
    steps: ["Server 5 joins as an observer"],
    after: null,
    settings: 1,
  },
  {
    change: { kind: "remove", sid: 3 },
    steps: ["Server 3 leaves"],
    after: "Server 3 can be stopped after the change",
    settings: 0,
  },
  { change: { kind: "promote", sid: 4 }, steps: ["Server 4 gets a vote"], after: null, settings: 0 },
  { change: { kind: "demote", sid: 3 }, steps: ["Server 3 becomes an observer"], after: null, settings: 0 },
  {
    change: { kind: "replace", sid: 3, server: joinerOf(5) },
    steps: ["Server 5 joins as an observer, and gets all data", "Server 5 takes the place of server 3"],
    after: "Server 3 can be stopped after the change",
    settings: 1,
  },
  {
    change: { kind: "replace", sid: 3, server: joinerOf(4) },
    steps: ["Server 4 takes the place of server 3"],
    after: "Server 3 can be stopped after the change",
    settings: 0,
  },
])("the plan of $change has its steps, in words", async ({ change, steps, after, settings }) => {
  const plan = await planOf(change);
  expect(plan.steps.map(({ text }) => text.split(": ")[0])).toEqual(steps);
  expect([plan.after, plan.settings.length > 0, plan.mayProceed]).toEqual([after, settings > 0, true]);
  for (const { joining, leaving } of plan.steps) expect(joining.length + leaving.length).toBeGreaterThan(0);
  expect(plan.checks.map(({ state }) => state)).not.toContain("failed");
});

test.each<{ name: string; change: MemberChangeJson; servers: ServerStates; failed: string }>([
  {
    name: "a joiner that is down",
    change: { kind: "add", server: joinerOf(5) },
    servers: serversOf([5]),
    failed: "Server 5 does not have all data",
  },
  {
    name: "a joiner that reports another number",
    change: { kind: "add", server: joinerOf(5) },
    servers: { ...serversOf(), reportedSid: async () => 9 },
    failed: "Server 5 does not have all data",
  },
  {
    name: "too few voters that serve",
    change: { kind: "remove", sid: 3 },
    servers: serversOf([1]),
    failed: "The voters after the change would be no quorum: server 1 does not serve",
  },
  {
    name: "too few voters, two of them",
    change: { kind: "promote", sid: 4 },
    servers: serversOf([1, 3]),
    failed: "The voters after the change would be no quorum: server 1 and server 3 do not serve",
  },
])("$name fails the check", async ({ change, servers, failed }) => {
  const plan = await planOf(change, servers);
  expect(plan.mayProceed).toBe(false);
  expect(plan.checks.flatMap(({ state, text }) => (state === "failed" ? [text] : [])).join("; ")).toContain(failed);
});

test("a change that moves the leadership says so, and another one does not", async () => {
  const noticesOf = async (sid: number): Promise<readonly string[]> =>
    (await planOf({ kind: "remove", sid })).checks.flatMap(({ state, text }) => (state === "notice" ? [text] : []));
  expect(await noticesOf(2)).toEqual([expect.stringContaining("Server 2 leads: the leadership moves")]);
  expect(await noticesOf(3)).toEqual([]);
});
