import { expect, test } from "vitest";
import { workUnderWay } from "./whole-state-work.ts";

const PURGE = "a purge is under way: purge_status says how it ends";
const SNAPSHOT = "a snapshot is being restored";
const TAKE_OVER = "a state is being taken over, or dropped: the command standby says how far it is";
const RESTORE = "a restore is under way: restore_state_status says how it ends";

test.each([
  [false, false, false, false, undefined],
  [true, false, false, false, PURGE],
  [false, true, false, false, SNAPSHOT],
  [false, false, true, false, RESTORE],
  [false, false, false, true, TAKE_OVER],
  [true, true, true, true, PURGE],
  [false, true, true, true, SNAPSHOT],
])(
  "beside a purge (%s), a snapshot (%s), a restore (%s) and a take-over (%s) that are under way: %s",
  (isPurging, isReceiving, isRestoring, isTakingOver, text) => {
    expect(workUnderWay({ isPurging, isReceiving, isRestoring, isTakingOver })).toBe(text);
  },
);
