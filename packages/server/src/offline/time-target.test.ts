import { composeZxid } from "@zooid/model";
import { expect, test } from "vitest";
import { OfflineError } from "./offline-error.ts";
import { findTime } from "./time-target.ts";

const DAY_MS = Date.parse("2026-05-31T00:00:00Z");
const at = (counter: number) => composeZxid(1, counter);

/** Files of ten transactions each, which are not read: no time lies within one. */
function filesAt(...ranges: readonly (readonly [firstMs: number, lastMs: number])[]) {
  return ranges.map(([firstMs, lastMs], i) => ({
    file: "none",
    after: at(10 * i),
    end: at(10 * i + 10),
    times: { firstMs: DAY_MS + firstMs, lastMs: DAY_MS + lastMs },
  }));
}

test.each([
  [20, 10],
  [29, 10],
  [40, 20],
])("a time at or behind a file's last transaction means that one: %d ms", (ms, counter) => {
  expect(findTime(filesAt([10, 20], [30, 40]), DAY_MS + ms)).toEqual({ zxid: at(counter), warnings: [] });
});

test.each<[string, readonly (readonly [number, number])[], number, string]>([
  ["without files", [], 10, "the history has no transaction to find a time in"],
  [
    "before the first",
    [[10, 20]],
    9,
    "the history begins after 0x100000000, at 2026-05-31T00:00:00.010Z, and so later than 2026-05-31T00:00:00.009Z",
  ],
  [
    "behind the last",
    [[10, 20]],
    21,
    "the history ends at 0x10000000a, at 2026-05-31T00:00:00.020Z, and so earlier than 2026-05-31T00:00:00.021Z",
  ],
  [
    "behind the last, though a clock went back",
    [
      [30, 40],
      [10, 20],
    ],
    41,
    "the history ends at 0x100000014, at 2026-05-31T00:00:00.040Z, and so earlier than 2026-05-31T00:00:00.041Z",
  ],
  [
    "across which a clock went back",
    [
      [10, 20],
      [50, 60],
      [25, 28],
      [70, 80],
    ],
    30,
    "a clock went back across 2026-05-31T00:00:00.030Z: that time was first behind 0x10000000a, and last behind 0x10000001e; name one of these transactions instead",
  ],
])("a time %s is refused", (_name, ranges, ms, sentence) => {
  const find = (): unknown => findTime(filesAt(...ranges), DAY_MS + ms);
  expect(find).toThrow(OfflineError);
  expect(find).toThrow(sentence);
});
