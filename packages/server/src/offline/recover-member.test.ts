import { EPOCH_MAX, ZXID_NONE } from "@zooid/model";
import { expect, test } from "vitest";
import { EPOCHS_SKIPPED, recoveryProblems } from "./recover-member.ts";
import type { Survivor } from "./survivor.ts";

const WHOLE: Survivor = {
  directories: { dataDir: "/data" },
  sid: 2,
  ensembleId: "colony",
  epoch: 5,
  epochMax: 5,
  zxid: ZXID_NONE,
  timeMs: undefined,
  committed: ZXID_NONE,
  uncommittedCount: 0,
  members: undefined,
  damage: undefined,
};
const LAST_EPOCH = EPOCH_MAX - 1 - EPOCHS_SKIPPED - 1;

test.each<[string, Partial<Survivor>, boolean, readonly RegExp[]]>([
  ["a whole member", {}, false, []],
  ["a damaged one", { damage: "its log is short" }, false, [/^its log is short; --force/]],
  ["a damaged one that is taken", { damage: "its log is short" }, true, []],
  ["a server that never was a member", { ensembleId: "" }, true, [/never was one of an ensemble|was never one/]],
  ["the last epoch with room", { epochMax: LAST_EPOCH }, false, []],
  ["one epoch more", { epochMax: LAST_EPOCH + 1 }, true, [/leaves no room/]],
  [
    "all at once",
    { damage: "x", ensembleId: "", epochMax: EPOCH_MAX },
    false,
    [/^x; /, /^nothing of the ensemble is left in/, /no room/],
  ],
])("%s: a recovery names each problem", (_, part, takesDamaged, problems) => {
  const found = recoveryProblems({ ...WHOLE, ...part }, { takesDamaged });
  expect(found).toEqual(problems.map((problem) => expect.stringMatching(problem)));
});
