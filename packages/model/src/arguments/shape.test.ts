import { expect, test } from "vitest";
import { ArgumentError } from "./argument-error.ts";
import { nearestName } from "./nearest-name.ts";
import { rules, wordRule } from "./rules.ts";
import { fits, misfits, type Shape, shape } from "./shape.ts";

interface Options {
  readonly mode?: "persistent" | "ephemeral" | "ephemeral-sequential";
  readonly sessionTimeoutMs?: number;
  readonly data?: string;
}

const SHAPE: Shape<Options> = shape<Options>({
  mode: wordRule("persistent", "ephemeral", "ephemeral-sequential"),
  sessionTimeoutMs: rules.duration,
  data: rules.payload,
});

test.each([
  [undefined],
  [{}],
  [{ mode: undefined }],
  [{ mode: "ephemeral", sessionTimeoutMs: Number.POSITIVE_INFINITY, data: null }],
  [{ data: Buffer.from("x") }],
])("%o fits", (options) => {
  expect([fits(options, SHAPE), misfits(options, SHAPE)]).toEqual([true, []]);
});

test.each([
  [{ mode: "EPHEMERAL" }, '"ephemeral"'],
  [{ mode: "EPHEMERAL_SEQUENTIAL" }, '"ephemeral-sequential"'],
  [{ ephemeral: true }, 'mode: "ephemeral"'],
  [{ sessionTimeout: 1 }, "sessionTimeoutMs"],
  [{ sesionTimeoutMs: 1 }, "sessionTimeoutMs"],
  [{ Data: "x" }, "data"],
])("%o names what was meant", (options, nearest) => {
  const problems = misfits(options, SHAPE);
  expect(fits(options, SHAPE)).toBe(false);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`did you mean ${nearest}?`);
});

test.each([
  [null],
  [5],
  ["ephemeral"],
  [["ephemeral"]],
  [{ data: { a: 1 } }],
  [{ data: 5 }],
  [{ sessionTimeoutMs: "1" }],
  [{ sessionTimeoutMs: Number.NaN }],
  [{ constructor: 1 }],
  [{ toString: 1 }],
])("%o does not fit", (options) => {
  expect(fits(options, SHAPE)).toBe(false);
  expect(misfits(options, SHAPE)).toHaveLength(1);
});

test("every problem is reported", () => {
  const problems = misfits({ mode: 1, data: 2, more: 3 }, SHAPE);
  expect(problems).toHaveLength(3);
  const error = new ArgumentError("create /a", problems);
  expect([error.code, error.problems, error instanceof RangeError]).toEqual(["INVALID_ARGUMENT", problems, true]);
  for (const problem of problems) expect(error.message).toContain(problem);
});

test("a name that resembles none has no nearest one", () => {
  expect(nearestName("xyz", ["mode", "data"])).toBeUndefined();
  expect(nearestName("", ["mode"])).toBeUndefined();
  expect(nearestName("dta", ["mode", "data"])).toBe("data");
});
