import { expect, test } from "vitest";
import { digestUser } from "./user.ts";
import { isSameToken, newToken, type WebSessionLimits, WebSessions } from "./web-sessions.ts";

const ALICE = digestUser({ user: "alice", password: "x" });
const BOB = digestUser({ user: "bob", password: "x" });

function stage(limits: Partial<WebSessionLimits> = {}): { sessions: WebSessions; clock: { nowMs: number } } {
  const clock = { nowMs: 1_000_000 };
  const sessions = new WebSessions({ idleMs: 100, lifetimeMs: 1000, ...limits }, () => clock.nowMs);
  return { sessions, clock };
}

test("a session is found by its own token, with its own user, until it is ended", () => {
  const { sessions } = stage();
  const [alice, bob] = [sessions.start(ALICE), sessions.start(BOB)];
  expect(sessions.find(alice.token)).toMatchObject({ user: ALICE, csrfToken: alice.session.csrfToken });
  expect(sessions.find(bob.token)?.user).toBe(BOB);
  expect(new Set([alice, bob].flatMap(({ token, session }) => [token, session.csrfToken])).size).toBe(4);
  sessions.end(alice.token);
  expect([sessions.find(alice.token), sessions.find(bob.token)?.user]).toEqual([undefined, BOB]);
  expect(sessions.find(newToken())).toBeUndefined();
});

test("a session that is used lasts for its lifetime, to the millisecond", () => {
  const { sessions, clock } = stage();
  const { token } = sessions.start(ALICE);
  for (let i = 0; i < 10; i++) {
    clock.nowMs += 100;
    expect(sessions.find(token)?.user).toBe(ALICE);
  }
  clock.nowMs++;
  expect([sessions.find(token), sessions.count]).toEqual([undefined, 0]);
});

test("a session that is not used ends when it was idle for too long, and is not found again", () => {
  const { sessions, clock } = stage();
  const { token } = sessions.start(ALICE);
  clock.nowMs += 101;
  expect(sessions.find(token)).toBeUndefined();
  clock.nowMs -= 101;
  expect(sessions.find(token)).toBeUndefined();
});

test("beyond the limit the session gives way that was used least recently", () => {
  const { sessions, clock } = stage({ countMax: 2 });
  const [first, second] = [sessions.start(ALICE), sessions.start(BOB)];
  clock.nowMs++;
  sessions.find(first.token);
  const third = sessions.start(ALICE);
  const found = [first, second, third].map(({ token }) => sessions.find(token)?.user);
  expect([found, sessions.count]).toEqual([[ALICE, undefined, ALICE], 2]);
});

test("a login removes sessions that are over", () => {
  const { sessions, clock } = stage();
  for (let i = 0; i < 5; i++) sessions.start(ALICE);
  clock.nowMs += 101;
  sessions.start(BOB);
  expect(sessions.count).toBe(1);
});

test("a token is the same as itself alone", () => {
  const token = newToken();
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(isSameToken(token, token)).toBe(true);
  for (const other of ["", token.slice(1), `${token}A`, newToken()]) expect(isSameToken(other, token)).toBe(false);
});
