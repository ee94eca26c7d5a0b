import { composeZxid, MajorityQuorum, parseMembers, serverId, ZXID_NONE } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { PEER_DEFAULTS, type PeerConfig } from "./config.ts";
import { Founding, isOfAnotherEnsemble, type SaidDisk, saidDiskOf } from "./founding.ts";
import { KnownMembers } from "./known-members.ts";
import { LostHistory } from "./lost-history.ts";
import { batchOf } from "./testing/batch.ts";
import { VolatileLog } from "./volatile-log.ts";

const S1 = serverId(1);
const S2 = serverId(2);
const S3 = serverId(3);
const WAIT_MS = 5000;
const FRESH: SaidDisk = { history: "none", ensembleId: "" };
const DATA: SaidDisk = { history: "ensemble", ensembleId: "e" };
const OWN: SaidDisk = { history: "own", ensembleId: "" };
const ATTEMPT: SaidDisk = { history: "attempt", ensembleId: "a" };

/** Server 1 of three, without a history, whose time the test sets. */
function founder(options: Partial<PeerConfig> = {}) {
  const log = new VolatileLog(
    S1,
    (step) => step(),
    () => {},
  );
  const verifier = new MajorityQuorum([S1, S2, S3]);
  const config: PeerConfig = { ...PEER_DEFAULTS, sid: S1, verifier, foundingWaitMs: WAIT_MS, ...options };
  const members = new KnownMembers(config, log.durable, () => {});
  const time = { nowMs: 100 };
  const founding = new Founding({
    config,
    members,
    log,
    lostHistory: new LostHistory(log),
    nowMs: () => time.nowMs,
  });
  founding.begin();
  const obstacles = (): readonly string[] => founding.obstacles().map(({ kind, sid }) => `${sid} ${kind}`);
  return { founding, log, time, obstacles };
}

describe("a server without a history founds an ensemble", () => {
  test("when every other voter has said that it has none", () => {
    const { founding, obstacles } = founder();
    expect(obstacles()).toEqual(["2 awaited", "3 awaited"]);
    founding.heard(S2, FRESH);
    expect(obstacles()).toEqual(["3 awaited"]);
    founding.heard(S3, FRESH);
    expect(obstacles()).toEqual([]);
  });

  test("without one that an attempt after the wait does not reach", () => {
    const { founding, obstacles, time } = founder();
    founding.heard(S2, FRESH);
    time.nowMs = 100 + WAIT_MS;
    founding.unanswered(S3, 1);
    // It began before the wait was over: the link may have been down for that time only.
    expect(obstacles()).toEqual(["3 awaited"]);
    founding.unanswered(S3, 0);
    expect(obstacles()).toEqual([]);
  });

  test("not without one that a connection reached less than the wait ago", () => {
    const { founding, obstacles, time } = founder();
    founding.heard(S2, FRESH);
    founding.heard(S3, FRESH);
    time.nowMs = 10_000;
    founding.lost(S3);
    expect(obstacles()).toEqual(["3 awaited"]);
    time.nowMs += WAIT_MS - 1;
    founding.unanswered(S3, 0);
    expect(obstacles()).toEqual(["3 awaited"]);
    time.nowMs++;
    founding.unanswered(S3, 0);
    expect(obstacles()).toEqual([]);
  });

  test("not beside one that accepts connections and says nothing, however long", () => {
    const { founding, obstacles, time } = founder();
    founding.heard(S2, FRESH);
    for (let i = 0; i < 10; i++) {
      founding.answers(S3);
      expect(obstacles()).toEqual(["3 not-heard"]);
      time.nowMs += WAIT_MS;
      founding.lost(S3);
      expect(obstacles()).toEqual(["3 not-heard"]);
    }
    founding.unanswered(S3, 0);
    expect(obstacles()).toEqual(["3 awaited"]);
    time.nowMs += WAIT_MS;
    founding.unanswered(S3, 0);
    expect(obstacles()).toEqual([]);
  });

  test("not beside one that was heard with data, until that one says that it has none", () => {
    const { founding, obstacles, time } = founder();
    founding.heard(S2, FRESH);
    founding.heard(S3, DATA);
    founding.lost(S3);
    time.nowMs += 10 * WAIT_MS;
    founding.unanswered(S3, 0);
    expect(obstacles()).toEqual(["3 has-data"]);
    founding.heard(S3, FRESH);
    expect(obstacles()).toEqual([]);
  });

  test("not beside an observer with data, and without one that is not heard", () => {
    const observer = serverId(4);
    const { founding, obstacles } = founder();
    for (const sid of [S2, S3]) founding.heard(sid, FRESH);
    expect(obstacles()).toEqual([]);
    founding.heard(observer, DATA);
    expect(obstacles()).toEqual(["4 has-data"]);
  });

  test("beside one with data that is not listed", () => {
    const members = parseMembers("server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2");
    const { founding, obstacles } = founder({ members });
    for (const sid of [S2, S3]) founding.heard(sid, FRESH);
    founding.heard(serverId(9), DATA);
    expect(obstacles()).toEqual([]);
  });

  test.each([
    ["its files name a version", { hasPast: true }],
    [
      "its configuration has one",
      { members: parseMembers("server.1=a:1:2\nserver.2=b:1:2\nserver.3=c:1:2\nversion=500000003") },
    ],
  ])("with all of them alone, if %s", (_, options) => {
    const { founding, obstacles, time } = founder(options);
    founding.heard(S2, FRESH);
    time.nowMs += WAIT_MS;
    founding.unanswered(S3, 0);
    expect(obstacles()).toEqual(["3 absent-beside-a-past"]);
    founding.heard(S3, FRESH);
    expect(obstacles()).toEqual([]);
  });

  test("at once where connections are not reported", () => {
    expect(founder({ foundingWaitMs: undefined }).obstacles()).toEqual([]);
  });
});

describe("a vote of a server without a history helps no one beside", () => {
  test.each([
    ["nothing", [], false],
    ["an ensemble", [DATA], true],
    ["the history of one server", [OWN], false],
    ["two such histories", [OWN, OWN], true],
    ["the epoch of an attempt", [ATTEMPT], false],
    ["a loss", [{ history: "ensemble", ensembleId: "" } as const], true],
  ])("%s", (_, said, hasMetData) => {
    const { founding } = founder();
    for (const [i, disk] of said.entries()) founding.heard(serverId(i + 2), disk);
    expect(founding.hasMetData).toBe(hasMetData);
  });

  test("an ensemble, but for the one whose epoch it has promised", () => {
    const { founding, log } = founder();
    log.setEnsembleId("e", () => {});
    founding.heard(S2, DATA);
    expect(founding.hasMetData).toBe(false);
    founding.heard(S3, { ...DATA, ensembleId: "f" });
    expect(founding.hasMetData).toBe(true);
  });
});

describe("a server without a history promises nothing in an attempt", () => {
  test.each([
    ["beside an ensemble", DATA, S3],
    ["beside a loss", { history: "ensemble", ensembleId: "" } as const, S3],
    ["beside a part of the same one", ATTEMPT, undefined],
    ["beside none", FRESH, undefined],
  ])("%s", (_, said, holder) => {
    const { founding } = founder();
    founding.heard(S2, FRESH);
    founding.heard(S3, said);
    expect(founding.dataBeside(S2, "a")).toBe(holder);
  });

  test("beside another attempt, before the leader holds its epoch", () => {
    const { founding } = founder();
    founding.heard(S2, FRESH);
    founding.heard(S3, { ...ATTEMPT, ensembleId: "b" });
    expect(founding.dataBeside(S2, "a")).toBe(S3);
    founding.heard(S2, ATTEMPT);
    expect(founding.dataBeside(S2, "a")).toBeUndefined();
  });

  test("beside another ensemble, though the leader holds its epoch; a loss forbids it no more", () => {
    const { founding } = founder();
    founding.heard(S2, ATTEMPT);
    founding.heard(S3, { history: "ensemble", ensembleId: "" });
    expect(founding.dataBeside(S2, "a")).toBeUndefined();
    founding.heard(S3, DATA);
    expect(founding.dataBeside(S2, "a")).toBe(S3);
  });
});

describe("a disk says", () => {
  const { durable } = new VolatileLog(
    S1,
    (step) => step(),
    () => {},
  );
  const id = { ...durable.identity, ensembleId: "e" };
  const to = (sid: number) => ({ epoch: 3, sid, incarnation: 1 });
  const entry = { zxid: composeZxid(3, 7), chain: durable.tail.chain };

  test.each([
    ["nothing, if nothing was written", {}, "none", ""],
    ["nothing, after a promise in an attempt", { identity: id, promise: to(2) }, "none", ""],
    ["of a loss, after a promise to an ensemble", { promise: to(2) }, "ensemble", ""],
    ["of a loss, if one is known", { amnesiac: true }, "ensemble", ""],
    ["of an attempt, if an epoch is held", { identity: id, promise: to(1), currentEpoch: 3 }, "attempt", "e"],
    ["of an ensemble", { identity: id, promise: to(1), currentEpoch: 3, tail: entry }, "ensemble", "e"],
    ["of a history of its own", { promise: to(1), currentEpoch: 3, tail: entry }, "own", ""],
  ] as const)("%s", (_, part, history, ensembleId) => {
    expect(saidDiskOf({ ...durable, ...part })).toEqual({ history, ensembleId });
  });

  test("servers of two ensembles refuse each other, unless one has nothing logged", () => {
    const other = { ...DATA, ensembleId: "f" };
    expect([
      isOfAnotherEnsemble(DATA, other),
      isOfAnotherEnsemble(DATA, DATA),
      isOfAnotherEnsemble(DATA, FRESH),
      isOfAnotherEnsemble(DATA, ATTEMPT),
    ]).toEqual([true, false, false, false]);
  });
});

describe("a configuration that another server knows", () => {
  test("counts beside data where that server has data of the same ensemble", () => {
    const { founding, log } = founder();
    log.setEnsembleId("e", () => {});
    log.append({ ...batchOf(1, 1), start: 0 }, 1, ZXID_NONE);
    expect([undefined, "f", "e"].map((theirs) => founding.mayKnowMembers(S2, theirs))).toEqual([false, false, true]);
  });

  test("counts without data unless another listed server has data of another ensemble", () => {
    const { founding } = founder();
    founding.heard(S2, DATA);
    expect([undefined, "e", "f"].map((theirs) => founding.mayKnowMembers(S2, theirs))).toEqual([true, true, true]);
    founding.heard(S3, { history: "ensemble", ensembleId: "f" });
    expect([founding.mayKnowMembers(S2, "e"), founding.mayKnowMembers(S3, "f")]).toEqual([false, false]);
  });
});
