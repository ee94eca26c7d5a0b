import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DueTimer } from "./due-timer.ts";

const TIMER_MS_MAX = 2 ** 31 - 1;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([1, 1000, TIMER_MS_MAX])("%d ms from now it fires once, then", (afterMs) => {
  const fire = vi.fn();
  new DueTimer(fire, false).arm(performance.now() + afterMs);
  vi.advanceTimersByTime(afterMs - 1);
  expect(fire).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fire).toHaveBeenCalledOnce();
});

test("a time further away than a timer can be does not fire at once", () => {
  const fire = vi.fn();
  new DueTimer(fire, false).arm(performance.now() + 10 * TIMER_MS_MAX);
  vi.advanceTimersByTime(TIMER_MS_MAX - 1);
  expect(fire).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fire).toHaveBeenCalledOnce();
});

test("an earlier time takes the place of a later one, and a later one changes nothing", () => {
  const fire = vi.fn();
  const timer = new DueTimer(fire, false);
  timer.arm(performance.now() + 1000);
  timer.arm(performance.now() + 10);
  timer.arm(performance.now() + 500);
  vi.advanceTimersByTime(10);
  expect(fire).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(2000);
  expect(fire).toHaveBeenCalledOnce();
});
