import { expect, test } from "vitest";
import { DownInstances } from "./down-instances.ts";

const WINDOW_MS = 100;
const STEPS = ["error", "half a window", "a window but a moment", "a moment", "error of another"] as const;
type Step = (typeof STEPS)[number];
const WAITS: Partial<Readonly<Record<Step, number>>> = {
  "half a window": WINDOW_MS / 2,
  "a window but a moment": WINDOW_MS - 1,
  "a moment": 1,
};

function sequences(length: number): readonly (readonly Step[])[] {
  if (length === 0) return [[]];
  return sequences(length - 1).flatMap((before) => STEPS.map((step) => [...before, step]));
}

test("after each sequence of errors and waits an instance is down if its window, from the first error on, has two", () => {
  for (const steps of sequences(5)) {
    let nowMs = 0;
    const instances = new DownInstances({ windowMs: WINDOW_MS, errors: 2 }, () => nowMs);
    let window = { untilMs: 0, errors: 0 };
    for (const step of steps) {
      nowMs += WAITS[step] ?? 0;
      if (step === "error") {
        instances.note("a");
        if (window.untilMs <= nowMs) window = { untilMs: nowMs + WINDOW_MS, errors: 0 };
        window.errors++;
      } else if (step === "error of another") instances.note("b");
      const isDown = window.errors >= 2 && nowMs < window.untilMs;
      if (instances.isDown("a") !== isDown) expect(`${steps}: down ${!isDown}`).toBe(`${steps}: down ${isDown}`);
    }
  }
});
