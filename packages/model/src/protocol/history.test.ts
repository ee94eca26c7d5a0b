import { expect, test } from "vitest";
import { type EpochRange, restoredBegin } from "./history.ts";
import { composeZxid } from "./zxid.ts";

test.each<[what: string, epochs: readonly EpochRange[], begin: number | undefined]>([
  ["no history", [], undefined],
  ["one that begins in the first epoch", [{ epoch: 1, first: 1, last: 1 }], undefined],
  ["one whose first epoch has more", [{ epoch: 4, first: 1, last: 2 }], undefined],
  ["one whose first epoch began before", [{ epoch: 4, first: 7, last: 7 }], undefined],
  ["a restored state alone", [{ epoch: 4, first: 1, last: 1 }], composeZxid(4, 1)],
  [
    "what follows a restored state",
    [
      { epoch: 4, first: 1, last: 1 },
      { epoch: 5, first: 1, last: 9 },
    ],
    composeZxid(4, 1),
  ],
])("the restored state that %s begins with is found by the table of epochs", (_, epochs, begin) => {
  expect(restoredBegin({ epochs })).toBe(begin);
});
