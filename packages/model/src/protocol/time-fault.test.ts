import { expect, test } from "vitest";
import { type TimeFault, timeFaultText } from "./time-fault.ts";
import { composeZxid } from "./zxid.ts";

const [first, last] = [composeZxid(1, 2), composeZxid(1, 4)];

test.each<[TimeFault, string]>([
  [
    { kind: "twice", askedMs: 1000, first, last },
    "a clock went back across 1970-01-01T00:00:01.000Z: that time was first behind 0x100000002, and last behind 0x100000004; name one of these transactions instead",
  ],
  [
    { kind: "gap", askedMs: 1000, after: first, end: last },
    "the history lacks the transactions after 0x100000002 and up to 0x100000004, and 1970-01-01T00:00:01.000Z lies among them",
  ],
  [
    { kind: "before", askedMs: 1000, zxid: first, timeMs: 2000 },
    "the history begins after 0x100000002, at 1970-01-01T00:00:02.000Z, and so later than 1970-01-01T00:00:01.000Z",
  ],
  [
    { kind: "behind", askedMs: 3000, zxid: last, timeMs: 2000 },
    "the history ends at 0x100000004, at 1970-01-01T00:00:02.000Z, and so earlier than 1970-01-01T00:00:03.000Z",
  ],
  [
    { kind: "behind", askedMs: 9e15, zxid: last, timeMs: 2000 },
    "the history ends at 0x100000004, at 1970-01-01T00:00:02.000Z, and so earlier than 9000000000000000 ms after 1970",
  ],
])("a time that stands for no transaction is answered by what there is (case %#)", (fault, text) => {
  expect(timeFaultText(fault)).toBe(text);
});
