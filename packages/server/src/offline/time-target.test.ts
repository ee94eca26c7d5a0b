import { composeZxid } from "@zooid/model";
import { expect, test } from "vitest";
import { OfflineError } from "./offline-error.ts";
import { clockWentBack, zxidAtTime } from "./time-target.ts";

const DAY_MS = Date.parse("2026-05-31T00:00:00Z");
const at = (counter: number) => composeZxid(1, counter);

/** Files of ten transactions each, which are not read: no time lies within one. */
function filesAt(...ranges: readonly (readonly [firstMs: number, lastMs: number])[]) {
  return ranges.map(([firstMs, lastMs], i) => ({
    file: "none",
    after: at(10 * i),
    end: at(10 * i + 10),
    firstMs: DAY_MS + firstMs,
    lastMs: DAY_MS + lastMs,
  }));
}

test.each([
  [20, 10],
  [29, 10],
  [40, 20],
])("a time at or behind a file's last transaction means that one: %d ms", (ms, counter) => {
  expect(zxidAtTime(filesAt([10, 20], [30, 40]), DAY_MS + ms)).toBe(at(counter));
});

test.each<[string, readonly (readonly [number, number])[], number, string]>([
  ["without files", [], 10, "there are no transactions in the archive to find a time in"],
  ["before the first", [[10, 20]], 9, "all transactions in the archive are later than 2026-05-31T00:00:00.009Z"],
  [
    "behind the last",
    [[10, 20]],
    21,
    "the history ends at 0x10000000a, 2026-05-31T00:00:00.020Z, and not at 2026-05-31T00:00:00.021Z",
  ],
  [
    "behind the last, though a clock went back",
    [
      [30, 40],
      [10, 20],
    ],
    41,
    "the history ends at 0x100000014, 2026-05-31T00:00:00.040Z",
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
    "a clock went back across 2026-05-31T00:00:00.030Z: --to 0x10000000a is the first time that it was so late, --to 0x10000001e the last",
  ],
])("a time %s is refused", (_name, ranges, ms, sentence) => {
  const find = (): unknown => zxidAtTime(filesAt(...ranges), DAY_MS + ms);
  expect(find).toThrow(OfflineError);
  expect(find).toThrow(sentence);
});

test("one place, and none, are no clock that went back", () => {
  expect(clockWentBack({ first: at(3), last: at(3) }, DAY_MS, "--to")).toBeUndefined();
  expect(clockWentBack({ first: at(3), last: undefined }, DAY_MS, "--to")).toBeUndefined();
  expect(clockWentBack({ first: at(3), last: at(4) }, DAY_MS, "--through")).toContain("--through 0x100000003");
});
