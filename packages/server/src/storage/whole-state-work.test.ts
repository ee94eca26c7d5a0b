import { expect, test } from "vitest";
import { workUnderWay } from "./whole-state-work.ts";

const PURGE = "a purge is under way: purge_status says how it ends";
const SNAPSHOT = "a snapshot is being restored";
const RESTORE = "a restore is under way: restore_state_status says how it ends";

test.each([
  [false, false, false, undefined],
  [true, false, false, PURGE],
  [false, true, false, SNAPSHOT],
  [false, false, true, RESTORE],
  [true, true, true, PURGE],
  [false, true, true, SNAPSHOT],
])(
  "beside a purge (%s), a snapshot (%s) and a restore (%s) that are under way: %s",
  (purge, snapshot, restore, text) => {
    expect(workUnderWay({ isPurging: purge, isReceiving: snapshot, isRestoring: restore })).toBe(text);
  },
);
