import type { LinkRef, SessionId } from "@zooid/model";
import { expect, test } from "vitest";
import { EndingSessions } from "./ending-sessions.ts";

const SESSION = 7n as SessionId;
const LINK = 1 as LinkRef;

test("renewals of an ending session are refused once, when the end is committed", () => {
  const endings = new EndingSessions();
  const refused: string[] = [];
  endings.add(SESSION, undefined, () => refused.push("own"));
  endings.add(SESSION, LINK, () => refused.push("learner's"));
  endings.ended(8n as SessionId);
  expect(refused).toEqual([]);
  endings.ended(SESSION);
  endings.ended(SESSION);
  expect(refused).toEqual(["own", "learner's"]);
});

test("no renewal is refused for a lost learner, nor after the end of the role", () => {
  const endings = new EndingSessions();
  const refused: string[] = [];
  endings.add(SESSION, LINK, () => refused.push("learner's"));
  endings.add(SESSION, undefined, () => refused.push("own"));
  endings.lost(LINK);
  endings.ended(SESSION);
  expect(refused).toEqual(["own"]);
  endings.add(SESSION, undefined, () => refused.push("late"));
  endings.clear();
  endings.ended(SESSION);
  expect(refused).toEqual(["own"]);
});
