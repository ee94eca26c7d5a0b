import { expect, test } from "vitest";
import { AuthFailures } from "./auth-failures.ts";

const MINUTE_MS = 60_000;

function newFailures(sparesLoopback = true): AuthFailures {
  return new AuthFailures({ delayMsMax: 10_000, sparesLoopback });
}

function delays(failures: AuthFailures, address: string, count: number, nowMs = 0): readonly number[] {
  return Array.from({ length: count }, () => failures.delayMs(address, nowMs));
}

test("five failures cost nothing; from there each costs twice the one before, up to the longest delay", () => {
  const failures = newFailures();
  expect(delays(failures, "10.0.0.1", 11)).toEqual([0, 0, 0, 0, 0, 1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test("failures of one address do not delay another", () => {
  const failures = newFailures();
  delays(failures, "10.0.0.1", 9);
  expect(failures.delayMs("10.0.0.2", 0)).toBe(0);
});

test("an address is forgiven a minute after its last failure, and not sooner", () => {
  const failures = newFailures();
  delays(failures, "10.0.0.1", 6);
  expect(failures.delayMs("10.0.0.1", MINUTE_MS - 1)).toBe(2000);
  expect(failures.delayMs("10.0.0.1", 2 * MINUTE_MS - 1)).toBe(0);
});

test("failures beyond the last finite power of two delay no longer than the limit", () => {
  expect(delays(newFailures(), "10.0.0.1", 2000).at(-1)).toBe(10_000);
});

test("ten thousand addresses are remembered, those that failed last", () => {
  const failures = newFailures();
  delays(failures, "first", 5);
  delays(failures, "second", 5);
  for (let i = 0; i < 9_998; i++) failures.delayMs(`other ${i}`, 0);
  // It fails again, and so another is the oldest.
  expect(failures.delayMs("first", 0)).toBe(1000);
  failures.delayMs("one more", 0);
  expect(failures.delayMs("first", 0)).toBe(2000);
  expect(failures.delayMs("second", 0)).toBe(0);
});

test.each(["127.0.0.1", "127.9.9.9", "0:0:0:0:0:0:0:1"])(
  "%s is this machine, and is delayed only where it is not spared",
  (address) => {
    expect(delays(newFailures(), address, 20).at(-1)).toBe(0);
    expect(delays(newFailures(false), address, 20).at(-1)).toBe(10_000);
  },
);

test("without a longest delay no answer is delayed", () => {
  const failures = new AuthFailures({ delayMsMax: 0, sparesLoopback: false });
  expect(delays(failures, "10.0.0.1", 20).at(-1)).toBe(0);
});

test("addresses of one /64 count as one", () => {
  const failures = newFailures();
  for (let host = 1; host <= 5; host++) failures.delayMs(`2001:db8:0:0:0:0:0:${host}`, 0);
  expect(failures.delayMs("2001:db8:0:0:ffff:0:0:1", 0)).toBe(1000);
  expect(failures.delayMs("2001:db8:0:1:0:0:0:1", 0)).toBe(0);
});

test("failures count under other options, and the longest delay is another from then on", () => {
  const failures = newFailures();
  expect(delays(failures, "10.0.0.1", 8)).toEqual([0, 0, 0, 0, 0, 1000, 2000, 4000]);
  failures.change({ delayMsMax: 3000, sparesLoopback: true });
  expect(delays(failures, "10.0.0.1", 1)).toEqual([3000]);
  failures.change({ delayMsMax: 0, sparesLoopback: true });
  expect(delays(failures, "10.0.0.1", 1)).toEqual([0]);
});
