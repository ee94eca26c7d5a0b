import { expect, test } from "vitest";
import { type Evidence, judgeGenerator } from "./generator-verdict.ts";

const IDLE = { utilisation: 0.3, cpu: 0.25, stallMsP99: 0.2 };
const CALM: Evidence = { repeats: [[IDLE, IDLE]], judgedBy: "utilisation", lagMsP99: undefined, latencyMsP99: 2 };

test.each<readonly [string, Partial<Evidence>, readonly string[]]>([
  ["a generator that waits is not what was measured", {}, []],
  [
    "one busy thread is enough for a doubt",
    { repeats: [[IDLE, { ...IDLE, utilisation: 0.95 }]] },
    ["its busiest thread worked 95 % of the time"],
  ],
  ["unless it looks at the clock all the time", { judgedBy: "lag", repeats: [[{ ...IDLE, utilisation: 1 }]] }, []],
  ["where it only waits nothing is doubtful", { judgedBy: "nothing", repeats: [[{ ...IDLE, stallMsP99: 50 }]] }, []],
  ["requests that left on time", { lagMsP99: 0.19 }, []],
  [
    "requests that left late by more than a tenth of the latency",
    { lagMsP99: 0.21 },
    ["requests left 0.21 ms late (p99), more than a tenth of the p99 latency"],
  ],
  ["a loop that stood still", { repeats: [[{ ...IDLE, stallMsP99: 6 }]] }, ["its loop stood still for 6 ms (p99)"]],
])("%s", (_, change, doubts) => {
  expect(judgeGenerator({ ...CALM, ...change }).doubts).toEqual(doubts);
});

test("the worst thread stands for all; cores add up", () => {
  const report = judgeGenerator({ ...CALM, repeats: [[IDLE, { utilisation: 0.5, cpu: 0.5, stallMsP99: 1 }]] });
  expect(report).toMatchObject({ utilisation: 0.5, cpu: 0.75, stallMsP99: 1 });
  expect(judgeGenerator({ ...CALM, repeats: [[IDLE], [IDLE]] }).cpu).toBe(0.25);
});
