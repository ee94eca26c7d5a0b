import type { SessionId } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Session, SessionTracker } from "./session-tracker.ts";

const TICK = 100;

function add(tracker: SessionTracker, id: number, timeoutMs: number, nowMs: number): Session {
  return tracker.add(BigInt(id) as SessionId, 0, id, timeoutMs, nowMs);
}

/**
 * The sessions that end when the tracker is swept as a driver does it: at each border that it
 * names, until nothing is due.
 */
function sweep(tracker: SessionTracker, nowMs: number): number[] {
  const ended: number[] = [];
  for (let due = tracker.nextBorderMs(); due !== undefined && due <= nowMs; due = tracker.nextBorderMs()) {
    tracker.expire(nowMs, (session) => {
      ended.push(session.idLow);
      tracker.remove(session);
    });
  }
  return ended;
}

test("a session expires at the border after its timeout, at least the timeout and at most a tick later", () => {
  const tracker = new SessionTracker(TICK, 0);
  const session = add(tracker, 1, 250, 30);
  expect(tracker.expiryMs(session)).toBe(300);
  expect(sweep(tracker, 299)).toEqual([]);
  expect(sweep(tracker, 300)).toEqual([1]);
  expect([tracker.size, tracker.nextBorderMs()]).toEqual([0, undefined]);
});

test("a touch delays the end, without any work before the old border", () => {
  const tracker = new SessionTracker(TICK, 0);
  const session = add(tracker, 1, 250, 0);
  session.touchedMs = 290;
  expect(tracker.nextBorderMs()).toBe(300);
  expect(sweep(tracker, 500)).toEqual([]);
  expect(tracker.nextBorderMs()).toBe(600);
  expect(sweep(tracker, 600)).toEqual([1]);
});

test("however late it is called, one call ends one bucket", () => {
  const tracker = new SessionTracker(TICK, 0);
  for (let i = 1; i <= 5; i++) add(tracker, i, i * 1000, 0);
  const ended: number[] = [];
  const end = (session: Session): void => {
    ended.push(session.idLow);
    tracker.remove(session);
  };
  for (let call = 1; call <= 5; call++) {
    tracker.expire(60_000, end);
    expect(ended).toHaveLength(call);
  }
  expect(ended).toEqual([1, 2, 3, 4, 5]);
});

test("a session touched between two calls after a stall is not ended", () => {
  const tracker = new SessionTracker(TICK, 0);
  add(tracker, 1, 100, 0);
  const late = add(tracker, 2, 1000, 0);
  const ended: number[] = [];
  tracker.expire(60_000, ({ idLow }) => ended.push(idLow));
  late.touchedMs = 60_000;
  tracker.expire(60_000, ({ idLow }) => ended.push(idLow));
  expect(ended).toEqual([1]);
});

test("a shorter timeout ends the session sooner, and a longer one later", () => {
  const tracker = new SessionTracker(TICK, 0);
  const shorter = add(tracker, 1, 5000, 0);
  const longer = add(tracker, 2, 500, 0);
  tracker.setTimeout(shorter, 200);
  tracker.setTimeout(longer, 900);
  expect(sweep(tracker, 300)).toEqual([1]);
  expect(sweep(tracker, 999)).toEqual([]);
  expect(sweep(tracker, 1000)).toEqual([2]);
});

test("renewals with changing timeouts leave a session in one bucket", () => {
  const tracker = new SessionTracker(TICK, 0);
  const session = add(tracker, 1, 5000, 0);
  for (let i = 0; i < 1000; i++) {
    tracker.setTimeout(session, 500);
    tracker.setTimeout(session, 5000);
  }
  let visits = 0;
  session.touchedMs = 4000;
  while ((tracker.nextBorderMs() ?? Number.POSITIVE_INFINITY) <= 9000) {
    tracker.expire(9000, () => {});
    visits++;
  }
  expect(visits).toBeLessThan(10);
  let ends = 0;
  session.touchedMs = 0;
  for (let now = 9100; now < 20_000; now += TICK) tracker.expire(now, () => ends++);
  expect(ends).toBeLessThanOrEqual(1);
});

test("each session ends once, never sooner than its timeout and never later than a tick after it", () => {
  const event = fc.record({
    who: fc.nat(4),
    waitMs: fc.nat(400),
    timeoutMs: fc.option(fc.integer({ min: 100, max: 900 })),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const tracker = new SessionTracker(TICK, 0);
      const sessions = Array.from({ length: 5 }, (_, i) => add(tracker, i, 500, 0));
      const ended = new Map<number, number>();
      let nowMs = 0;
      const run = (untilMs: number): void => {
        for (; nowMs <= untilMs; nowMs += 10) {
          for (const id of sweep(tracker, nowMs)) {
            expect(ended.has(id)).toBe(false);
            ended.set(id, nowMs);
            const { touchedMs, timeoutMs } = sessions[id] as Session;
            expect(nowMs - touchedMs).toBeGreaterThanOrEqual(timeoutMs);
            expect(nowMs - touchedMs).toBeLessThanOrEqual(timeoutMs + TICK + 10);
          }
        }
      };
      for (const { who, waitMs, timeoutMs } of events) {
        run(nowMs + waitMs);
        const session = sessions[who] as Session;
        if (ended.has(who)) continue;
        session.touchedMs = nowMs;
        if (timeoutMs !== null) tracker.setTimeout(session, timeoutMs);
      }
      run(nowMs + 2000);
      expect(ended.size).toBe(5);
    }),
  );
});
