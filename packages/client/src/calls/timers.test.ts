import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { limitSignal, pause, startTimer } from "./timers.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const TIMER_MS_MAX = 2 ** 31 - 1;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const TIMES_MS = [
  0,
  1,
  1000,
  TIMER_MS_MAX - 1,
  TIMER_MS_MAX,
  TIMER_MS_MAX + 1,
  2 * TIMER_MS_MAX + 7,
  60 * DAY_MS,
  400 * DAY_MS,
];

test.each(TIMES_MS)("a timer of %d ms fires then, and no sooner", (delayMs) => {
  const fired = vi.fn();
  startTimer(delayMs, fired);
  if (delayMs > 0) vi.advanceTimersByTime(delayMs - 1);
  expect(fired).toHaveBeenCalledTimes(0);
  vi.advanceTimersByTime(1);
  expect(fired).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(3 * TIMER_MS_MAX);
  expect(fired).toHaveBeenCalledTimes(1);
});

test("an endless timer never fires, and none does after it is cancelled", () => {
  const fired = vi.fn();
  startTimer(Number.POSITIVE_INFINITY, fired);
  const long = startTimer(60 * DAY_MS, fired);
  vi.advanceTimersByTime(50 * DAY_MS);
  long.cancel();
  vi.advanceTimersByTime(4000 * DAY_MS);
  expect(fired).toHaveBeenCalledTimes(0);
});

test("a pause ends at its time, or with its signal, and leaves no timer and no listener", async () => {
  const stop = new AbortController();
  const long = pause(60 * DAY_MS, { signal: stop.signal });
  const short = pause(5, { signal: stop.signal });
  vi.advanceTimersByTime(5);
  await short;
  expect(vi.getTimerCount()).toBe(1);
  stop.abort(new Error("enough"));
  await expect(long).rejects.toThrow("enough");
  await expect(pause(5, { signal: stop.signal })).rejects.toThrow("enough");
  expect(vi.getTimerCount()).toBe(0);
});

test("a limit of sixty days aborts then with a TimeoutError", () => {
  const signal = limitSignal(60 * DAY_MS);
  vi.advanceTimersByTime(60 * DAY_MS - 1);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.reason).toMatchObject({ name: "TimeoutError" });
});
