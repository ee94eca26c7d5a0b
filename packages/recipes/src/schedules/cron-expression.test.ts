import { describe, expect, test } from "vitest";
import { cronTimes } from "./cron-expression.ts";

const FROM = "2030-01-01T00:00:30Z"; // a Tuesday

/** The first times of an expression. */
function times(expression: string, count: number, from = FROM): readonly string[] {
  const next = cronTimes(expression);
  let atMs = Date.parse(from);
  return Array.from({ length: count }, () => {
    atMs = next(atMs);
    return new Date(atMs).toISOString().replace(":00.000Z", "");
  });
}

test.each([
  ["* * * * *", ["2030-01-01T00:01", "2030-01-01T00:02"]],
  ["*/20 * * * *", ["2030-01-01T00:20", "2030-01-01T00:40", "2030-01-01T01:00"]],
  ["5/25 * * * *", ["2030-01-01T00:05", "2030-01-01T00:30", "2030-01-01T00:55"]],
  ["0 2 * * *", ["2030-01-01T02:00", "2030-01-02T02:00"]],
  ["30 9-17/4 * * mon-FRI", ["2030-01-01T09:30", "2030-01-01T13:30", "2030-01-01T17:30", "2030-01-02T09:30"]],
  ["0 0 * * 0", ["2030-01-06T00:00", "2030-01-13T00:00"]],
  ["0 0 * * 7", ["2030-01-06T00:00"]],
  ["0 0 29 2 *", ["2032-02-29T00:00", "2036-02-29T00:00"]],
  ["0 0 31 * *", ["2030-01-31T00:00", "2030-03-31T00:00", "2030-05-31T00:00"]],
  ["0 0 1,15 jan,Jul *", ["2030-01-15T00:00", "2030-07-01T00:00"]],
  // Either day is enough where both are given.
  ["0 0 13 * fri", ["2030-01-04T00:00", "2030-01-11T00:00", "2030-01-13T00:00"]],
  ["  59   23 31 12  * ", ["2030-12-31T23:59", "2031-12-31T23:59"]],
])("%s", (expression, expected) => {
  expect(times(expression, expected.length)).toEqual(expected);
});

test("the time itself is not the next one, and a leap year that a century leaves out is skipped", () => {
  expect(times("0 * * * *", 1, "2030-01-01T05:00:00.000Z")).toEqual(["2030-01-01T06:00"]);
  expect(times("0 * * * *", 1, "2030-01-01T04:59:59.999Z")).toEqual(["2030-01-01T05:00"]);
  expect(times("0 0 29 2 *", 1, "2096-03-01T00:00:00Z")).toEqual(["2104-02-29T00:00"]);
});

describe("is refused", () => {
  test.each([
    ["", "has 5 fields, found 0"],
    ["* * * *", "has 5 fields, found 4"],
    ["* * * * * *", "has 5 fields, found 6"],
    ["60 * * * *", 'the minute "60"'],
    ["* 24 * * *", 'the hour "24"'],
    ["* * 0 * *", 'the day of the month "0"'],
    ["* * * foo *", 'the month "foo"'],
    ["5-1 * * * *", 'the minute "5-1"'],
    ["1-2-3 * * * *", "minute"],
    ["*/0 * * * *", "minute"],
    ["*/ * * * *", "minute"],
    ["*/2/3 * * * *", "minute"],
    [", * * * *", "minute"],
    ["-1 * * * *", "minute"],
    ["1e1 * * * *", "minute"],
    ["0 0 31 2 *", "never occurs"],
    ["0 0 30 feb *", "never occurs"],
    ["60 24 * * 8", '; the hour "24"'],
  ])("%j", (expression, message) => {
    expect(() => cronTimes(expression)).toThrow(message);
  });
});
