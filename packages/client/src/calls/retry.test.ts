import { expect, test } from "vitest";
import { zkError } from "../errors.ts";
import { retry } from "./retry.ts";

const error = zkError({ code: "THROTTLED_OP", op: "get", outcome: "rejected" });
const delays = (policy: ReturnType<typeof retry.times>, counts: readonly number[]) =>
  counts.map((count) => policy({ count, elapsedMs: count * 10, error }));

test("exponential waits longer each time, up to its bound, and gives up after its attempts", () => {
  const policy = retry.exponential({ baseMs: 10, maxMs: 100, attempts: 5, random: () => 0.999 });
  expect(delays(policy, [1, 2, 3, 4, 5])).toEqual([30, 70, 100, 100, false]);
});

test("exponential waits at least its base", () => {
  expect(delays(retry.exponential({ baseMs: 10, random: () => 0 }), [1, 7])).toEqual([10, 10]);
});

test.each([
  ["none", retry.none, [false, false]],
  ["once", retry.once(7), [7, false]],
  ["times", retry.times(2, 7), [7, false]],
  ["forever", retry.forever(7), [7, 7]],
  ["untilElapsed", retry.untilElapsed(20, 7), [7, false]],
])("%s does as its name says", (_, policy, expected) => {
  expect(delays(policy, [1, 2])).toEqual(expected);
});

test("kazoo grows by its factor, give or take its jitter, up to its bound, until its attempts or its time are over", () => {
  const plain = { delayMs: 10, backoff: 3, maxMs: 100, random: () => 0.5 };
  expect(delays(retry.kazoo({ ...plain, attempts: 5 }), [1, 2, 3, 4, 5])).toEqual([10, 30, 90, 100, false]);
  expect(delays(retry.kazoo({ ...plain, random: () => 0 }), [1, 2])).toEqual([6, 18]);
  expect(delays(retry.kazoo({ ...plain, deadlineMs: 55 }), [1, 2, 3])).toEqual([10, 30, false]);
});

test("failOnSessionLoss delegates to its policy", () => {
  const policy = retry.failOnSessionLoss(retry.times(2, 7));
  expect([delays(policy, [1, 2]), policy.endsWithSession]).toEqual([[7, false], true]);
});

const NO_DURATION: readonly unknown[] = [-1, Number.NaN, "7", null, {}];
const NO_COUNT: readonly unknown[] = [-1, 0.5, Number.NaN, "7", null, {}];
type Policies = Readonly<Record<string, (...values: unknown[]) => unknown>>;

test.each<readonly [policy: keyof typeof retry, valid: readonly number[], invalid: readonly (readonly unknown[])[]]>([
  ["times", [2, 7], [NO_COUNT, NO_DURATION]],
  ["once", [7], [NO_DURATION]],
  ["forever", [7], [NO_DURATION]],
  ["untilElapsed", [20, 7], [NO_DURATION, NO_DURATION]],
])("%s refuses each argument that is none", (name, valid, invalid) => {
  const make = (retry as unknown as Policies)[name] ?? expect.unreachable(`there is no policy ${name}`);
  for (const [place, values] of invalid.entries()) {
    for (const value of values) {
      const found = `${name} with ${String(value)} for argument ${place}`;
      expect(() => make(...valid.with(place, value as number)), found).toThrow(`retry.${name}`);
    }
  }
});

test.each<readonly [policy: "exponential" | "kazoo", options: Readonly<Record<string, readonly unknown[]>>]>([
  ["exponential", { baseMs: NO_DURATION, maxMs: NO_DURATION, attempts: NO_COUNT, random: [7, null], other: [1] }],
  [
    "kazoo",
    {
      delayMs: NO_DURATION,
      backoff: [0, 0.5, Number.NaN, "2", null],
      jitter: [-0.1, 1.1, Number.NaN, "0", null],
      maxMs: NO_DURATION,
      attempts: NO_COUNT,
      deadlineMs: NO_DURATION,
      random: [7, null],
      other: [1],
    },
  ],
])("%s refuses each option that is none", (name, options) => {
  const make = (retry as unknown as Policies)[name] ?? expect.unreachable(`there is no policy ${name}`);
  for (const [option, values] of Object.entries(options)) {
    for (const value of values) expect(() => make({ [option]: value }), `${option} ${value}`).toThrow(`retry.${name}`);
  }
});
