import { expect, test } from "vitest";
import { timersIn } from "./timers-in-source.ts";

const namesIn = (source: string): readonly string[] => timersIn(source).map(({ name }) => name);

test("timers with a time that the source does not show are found", () => {
  const source = `
    setTimeout(over, timeoutMs);
    const limit = AbortSignal.timeout(options.timeoutMs);
    names$.pipe(debounceTime(this.#quietMs));
    await timers.setTimeout(2 * ms);`;
  expect(namesIn(source)).toEqual(["setTimeout", "AbortSignal.timeout", "debounceTime", "timers.setTimeout"]);
  expect(timersIn(source)[1]?.line).toBe(3);
});

test("known times are left alone", () => {
  expect(
    namesIn("setTimeout(over, 20); setTimeout(over, GRACE_MS); setTimeout(over, Math.min(ms, MOST_MS)); queue.timer"),
  ).toEqual([]);
});
