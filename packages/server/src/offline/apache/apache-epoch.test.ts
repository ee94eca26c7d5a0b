import { EPOCH_ALARM, EPOCH_MAX } from "@zooid/model";
import { expect, test } from "vitest";
import { apacheEpochAbove } from "./apache-epoch.ts";

test.each<readonly [number, number, boolean]>([
  [7, 1031, false],
  [EPOCH_ALARM - 1025, EPOCH_ALARM - 1, false],
  [EPOCH_ALARM - 1024, EPOCH_ALARM, true],
  [EPOCH_MAX - 1025, EPOCH_MAX - 1, true],
])("behind epoch %i Apache begins at %i, with a warning where few are left: %s", (epochMax, epoch, isWarned) => {
  const found = apacheEpochAbove(epochMax);
  expect(found).toMatchObject({ epoch });
  expect(typeof found !== "string" && found.warning !== undefined).toBe(isWarned);
});

test("no epoch is left behind the last ones", () => {
  expect(apacheEpochAbove(EPOCH_MAX - 1024)).toContain(`the last epoch is ${EPOCH_MAX - 1}`);
});
