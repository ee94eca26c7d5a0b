import { composeZxid, serverId, ZXID_NONE, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { LostHistory } from "./lost-history.ts";
import { RecordingSinks } from "./testing/batch.ts";

/** The disk of server 1, which promised its newest epoch to itself and knows no ensemble. */
function history(tail: Zxid, amnesiac: boolean): LostHistory {
  const { durable } = new RecordingSinks(tail);
  return new LostHistory({
    durable: { ...durable, amnesiac, currentEpoch: 2, promise: { epoch: 2, sid: 1, incarnation: 1 } },
  });
}

test.each([
  ["with entries", composeZxid(1, 5), false, true],
  ["with an epoch and no entry", ZXID_NONE, false, true],
  ["whose damaged log lost its last entries", composeZxid(1, 5), true, true],
  // S3 led S1 and S2. Its log lost all of its entries, and an attempt to found an ensemble took the
  // id away: it must follow S1 and S2 again.
  ["whose damaged log lost all of its entries", ZXID_NONE, true, false],
])("a history of one server %s is its own: %s", (_, tail, amnesiac, isOwn) => {
  expect(history(tail, amnesiac)).toMatchObject({ isOwn, isAmnesiac: amnesiac });
});

test("a leader whose history differs is known until it synchronizes this server, or is gone", () => {
  const lost = history(composeZxid(1, 5), false);
  lost.diverged(serverId(2));
  // This server still votes, for others.
  expect([lost.hasDivergedFrom(serverId(2)), lost.hasDivergedFrom(serverId(3)), lost.isAmnesiac]).toEqual([
    true,
    false,
    false,
  ]);
  lost.lost(serverId(3));
  expect(lost.hasDivergedFrom(serverId(2))).toBe(true);
  lost.lost(serverId(2));
  expect(lost.hasDivergedFrom(serverId(2))).toBe(false);
  lost.diverged(serverId(3));
  lost.recovered();
  expect(lost.hasDivergedFrom(serverId(3))).toBe(false);
});
