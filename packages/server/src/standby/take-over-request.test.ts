import { type Chain, composeZxid, EPOCH_MAX, type NamedState, serverId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import {
  digestText,
  missingMembers,
  type StandingMember,
  type TakeOverRequest,
  takeOverObstacle,
  takeOverRequestOf,
} from "./take-over-request.ts";

const OWN: NamedState = { zxid: composeZxid(5, 7), chain: 9n as Chain, digestHigh: -1, digestLow: 0x1f };
const ASKED: TakeOverRequest = { zxid: OWN.zxid, digest: "ffffffff0000001f", epoch: 5 + 1024, without: [] };

function member(sid: number, changes: Partial<NamedState> = {}, more: Partial<StandingMember> = {}): StandingMember {
  return {
    member: { sid: serverId(sid), isObserver: sid > 3 },
    isSynced: true,
    standby: { ...OWN, ...changes, isTaken: false },
    ...more,
  };
}

test("a digest is shown as 16 hexadecimal digits", () => {
  expect(digestText(OWN)).toBe(ASKED.digest);
});

describe("a request", () => {
  const parsed = (text: string): TakeOverRequest | string => takeOverRequestOf(new URLSearchParams(text));

  test("names the state, the epoch, and observers that may be away", () => {
    expect(parsed(`zxid=0x500000007&digest=${ASKED.digest}&epoch=1029&without=4,5`)).toEqual({
      ...ASKED,
      without: [4, 5],
    });
  });

  test.each([
    ["", "digest is that of the state"],
    ["digest=FF&epoch=1029&zxid=0x1", 'not "FF"'],
    [`digest=${ASKED.digest}&zxid=0x1`, "epoch is a whole number"],
    [`digest=${ASKED.digest}&epoch=-1&zxid=0x1`, 'not "-1"'],
    [`digest=${ASKED.digest}&epoch=1029&without=zk4&zxid=0x1`, "without names observers"],
    [`digest=${ASKED.digest}&epoch=1029&zxid=tomorrow`, "zxid is hexadecimal"],
  ])("%s is refused", (text, expected) => {
    expect(parsed(text)).toContain(expected);
  });
});

describe("a take-over", () => {
  const others = [member(2), member(3), member(4)];

  test("may begin where all servers have the state", () => {
    expect(takeOverObstacle(ASKED, OWN, others)).toBeUndefined();
  });

  test.each<[string, Partial<TakeOverRequest>, NamedState | undefined, readonly StandingMember[], string]>([
    ["without a state", {}, undefined, others, "this server has no state ready"],
    ["of another zxid", { zxid: composeZxid(5, 6) }, OWN, others, "this server stands at 0x500000007"],
    ["of another digest", { digest: "0000000000000000" }, OWN, others, "and not at 0x500000007 with 0000000000000000"],
    ["with an epoch near to Apache's", { epoch: 1028 }, OWN, others, "it is 1029 at least"],
    ["with the last epoch", { epoch: EPOCH_MAX }, OWN, others, `not below ${EPOCH_MAX}`],
    [
      "beside a server that is away",
      {},
      OWN,
      [member(2, {}, { isSynced: false })],
      "server 2 is not ready: it does not",
    ],
    ["beside one without a state", {}, OWN, [member(2, {}, { standby: undefined })], "it has no state ready"],
    ["beside one that lags", {}, OWN, [member(2, { zxid: composeZxid(5, 6) })], "it stands at 0x500000006"],
    ["beside another history", {}, OWN, [member(2, { chain: 8n as Chain })], "that of another history"],
    ["beside other contents", {}, OWN, [member(2, { digestLow: 1 })], "with the digest ffffffff00000001"],
    ["beside an observer that lags", {}, OWN, [member(4, { digestLow: 1 })], "without=4 leaves it out"],
    [
      "beside a voter that may not be left out",
      { without: [2] },
      OWN,
      [member(2, { digestLow: 1 })],
      "server 2 is not",
    ],
  ])("%s is refused", (_, changes, own, members, expected) => {
    expect(takeOverObstacle({ ...ASKED, ...changes }, own, members)).toContain(expected);
  });

  test("leaves an observer out that is named", () => {
    const away = member(4, {}, { isSynced: false });
    expect(takeOverObstacle({ ...ASKED, without: [4] }, OWN, [member(2), away])).toBeUndefined();
  });

  test("is complete once all have the state for their own", () => {
    const taken = (sid: number, state = OWN): StandingMember =>
      member(sid, {}, { standby: { ...state, isTaken: true } });
    expect(missingMembers(OWN, [taken(2), taken(3)])).toEqual([]);
    const others = [taken(2), member(3), taken(4, { ...OWN, digestLow: 1 })];
    expect(missingMembers(OWN, others).map(({ sid }) => sid)).toEqual([3, 4]);
  });
});
