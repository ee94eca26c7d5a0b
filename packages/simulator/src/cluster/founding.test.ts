import { serverId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import {
  Founding,
  foundsAfterCrashes,
  foundsFromAttempts,
  leadsOrKeeps,
  S1,
  S2,
  S3,
  servingBesideAGrownList,
} from "../testing/founding.ts";

/**
 * An ensemble is founded where one of its voters has served alone, and has data that no other one
 * has a part of.
 */

describe("a server with data that it has made alone", () => {
  test.each([
    ["first", [S1, S2, S3]],
    ["last", [S2, S3, S1]],
    ["between", [S2, S1, S3]],
  ])("founds an ensemble with two that have none, started %s at the same time", (_, order) => {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    founding.start(...order);
    expect(founding.leaders()).toEqual([S1]);
    for (const sid of order) expect(founding.read(sid, "/a")).toBe("1");
    expect(founding.create(S3, "/b")).toBe("/b");
    const ids = founding.cluster.running().map(({ disk }) => disk.durable.identity.ensembleId);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).not.toBe("");
  });

  test("founds it with the first of them alone, and the other one joins later", () => {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    founding.start(S1, S2);
    expect(founding.leaders()).toEqual([S1]);
    founding.start(S3);
    expect(founding.read(S3, "/a")).toBe("1");
  });

  test("counts no empty disk any more once others have a part of its data", () => {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    founding.start(S1, S2, S3);
    founding.cluster.crash(S1);
    founding.run();
    expect(founding.create(S2, "/b")).toBe("/b");
    founding.cluster.crash(S2);
    founding.cluster.wipe(S3, 0);
    // Neither has /b.
    founding.start(S1, S3);
    expect(founding.leaders()).toEqual([]);
    founding.start(S2);
    expect(founding.read(S3, "/b")).toBe("1");
  });

  test("continues founding after a crash at any moment of it", () => foundsAfterCrashes(17));

  test("keeps them beside an ensemble that two others have founded without it, and says so", () => {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    founding.start(S2, S3);
    expect(founding.create(S2, "/b")).toBe("/b");
    founding.start(S1);
    expect(founding.noted(S1)).toContain("history-of-one-server");
    const attempts = founding.noted(S1).length;
    founding.run(60_000);
    // It does not try again at once.
    expect(founding.noted(S1).length - attempts).toBeLessThan(60);
    expect(founding.leaders()).toHaveLength(1);
    expect(founding.read(S3, "/b")).toBe("1");
    for (const sid of [S2, S3]) founding.cluster.wipe(sid, 0);
    founding.cluster.crash(S1);
    founding.start(S2, S3, S1);
    for (const sid of [S1, S2, S3]) expect(founding.read(sid, "/a")).toBe("1");
  });

  test("leads or keeps them, however much later than the two others it starts", () => leadsOrKeeps(97));

  test("founds nothing beside another one that has other data, until an operator has chosen", () => {
    const founding = new Founding();
    founding.serveAlone(S1, "/a");
    founding.serveAlone(S2, "/b");
    founding.start(S1, S2);
    founding.start(S3);
    expect(founding.leaders()).toEqual([]);
    founding.cluster.wipe(S2);
    founding.start(S2);
    expect(founding.leaders()).toEqual([S1]);
    for (const sid of [S1, S2, S3]) expect(founding.read(sid, "/a")).toBe("1");
  });
});

test("a server with data says that wiped servers have founded another ensemble, and tries again now and then", () => {
  const founding = new Founding();
  founding.start(S1, S2, S3);
  expect(founding.create(S1, "/a")).toBe("/a");
  founding.cluster.crash(S3, Number.POSITIVE_INFINITY);
  for (const sid of [S1, S2]) founding.cluster.wipe(sid, 0);
  founding.start(S1, S2);
  // Nothing was written there.
  expect(founding.serving()).toEqual([S1, S2]);
  founding.start(S3);
  expect(founding.noted(S3)).toContain("leader-of-another-ensemble");
  const attempts = founding.noted(S3).length;
  founding.run(60_000);
  expect(founding.noted(S3).length - attempts).toBeLessThan(75);
  expect(founding.serving()).toEqual([S1, S2]);
  expect(founding.cluster.server(S3)?.disk.durable.tail.zxid).toBeGreaterThanOrEqual(0x1_0000_0001);
});

test.each([
  ["started at once", 0],
  ["of which the last starts late", 2500],
])("servers that have nothing but epochs of attempts found an ensemble, %s", (_, lateMs) => {
  for (const isLabelled of [false, true]) foundsFromAttempts({ stride: 29, isLabelled, lateMs });
});

test.each([
  ["two voters", [], [4, 5]],
  ["an observer", [4], []],
] as const)(
  "servers with nothing logged found none while the list in their files has %s more",
  (_, observers, further) => {
    expect(servingBesideAGrownList(observers.map(serverId), further.map(serverId))).toBe(0);
  },
);
