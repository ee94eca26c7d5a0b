import { expect, test } from "vitest";
import { EPOCHS_SKIPPED, type EpochRange, restoredAt } from "./history.ts";
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
  const currentEpoch = (epochs.at(-1)?.epoch ?? 0) + 1;
  expect(restoredAt({ currentEpoch, epochs })).toBe(begin);
});

test.each([
  [EPOCHS_SKIPPED - 1, undefined],
  [EPOCHS_SKIPPED, composeZxid(3 + EPOCHS_SKIPPED, 1)],
])("a history that leaves out %j epochs continues at %j", (skipped, at) => {
  const epochs = [
    { epoch: 1, first: 1, last: 9 },
    { epoch: 3, first: 1, last: 9 },
  ];
  const next = { epoch: 3 + skipped, first: 1, last: 2 };
  // Before its first transaction, and behind it.
  expect(restoredAt({ currentEpoch: next.epoch, epochs })).toBe(at);
  expect(restoredAt({ currentEpoch: next.epoch + 1, epochs: [...epochs, next] })).toBe(at);
});
