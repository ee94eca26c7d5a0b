import type { LinkRef, SessionId } from "@zooid/model";
import { expect, test } from "vitest";
import { EndingSessions } from "./ending-sessions.ts";

const SESSION = 7n as SessionId;
const LINK = 1 as LinkRef;

test("those who wait for the end of a session are told once, when it is committed", () => {
  const endings = new EndingSessions();
  const told: string[] = [];
  endings.add(SESSION, undefined, () => told.push("own"));
  endings.add(SESSION, LINK, () => told.push("learner's"));
  endings.ended(8n as SessionId);
  expect(told).toEqual([]);
  endings.ended(SESSION);
  endings.ended(SESSION);
  expect(told).toEqual(["own", "learner's"]);
});

test("a learner that is gone, and a role that has ended, are told nothing", () => {
  const endings = new EndingSessions();
  const told: string[] = [];
  endings.add(SESSION, LINK, () => told.push("learner's"));
  endings.add(SESSION, undefined, () => told.push("own"));
  endings.lost(LINK);
  endings.ended(SESSION);
  expect(told).toEqual(["own"]);
  endings.add(SESSION, undefined, () => told.push("late"));
  endings.clear();
  endings.ended(SESSION);
  expect(told).toEqual(["own"]);
});
