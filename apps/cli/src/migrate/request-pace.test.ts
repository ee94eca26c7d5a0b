import { expect, test } from "vitest";
import { RequestPace } from "./request-pace.ts";

const SIGNAL = new AbortController().signal;

/** A clock that stands still but for the waits. */
function clock() {
  return {
    at: 0,
    nowMs(): number {
      return this.at;
    },
    wait(ms: number): Promise<void> {
      this.at += ms;
      return Promise.resolve();
    },
  };
}

test("a second holds as many requests as it may, and a few milliseconds' more", async () => {
  const time = clock();
  const pace = new RequestPace(1000, time);
  let count = 0;
  for (; time.at < 1000; count += 2) await pace.take(2, SIGNAL);
  expect(count).toBeGreaterThan(990);
  expect(count).toBeLessThan(1010);
});

test("time in which nothing was sent is not made up for", async () => {
  const time = clock();
  const pace = new RequestPace(1000, time);
  await pace.take(1, SIGNAL);
  time.at = 10_000;
  let count = 0;
  for (; time.at < 10_100; count++) await pace.take(1, SIGNAL);
  expect(count).toBeLessThan(110);
});

test("an abort ends it", async () => {
  const pace = new RequestPace(1);
  await expect(pace.take(1, AbortSignal.abort(new Error("given up")))).rejects.toThrow("given up");
  await expect(pace.take(1, AbortSignal.abort(new Error("given up")))).rejects.toThrow();
});
