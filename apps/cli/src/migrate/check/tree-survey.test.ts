import { OPEN_ACL, type Stat, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { TreeSurvey } from "./tree-survey.ts";

const ALONE = { members: [], hasReconfig: undefined };

function stat(more: Partial<Stat> = {}): Stat {
  return {
    czxid: 1 as Zxid,
    mzxid: 1 as Zxid,
    pzxid: 1 as Zxid,
    ctimeMs: 0,
    mtimeMs: 0,
    version: 0,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: 0n,
    dataLength: 0,
    numChildren: 0,
    ...more,
  };
}

test("nodes are added up, with an example of each extreme", () => {
  const survey = new TreeSurvey();
  const digest = [
    { perms: 31, scheme: "digest", id: "a:b" },
    { perms: 1, scheme: "digest", id: "c:d" },
  ];
  survey.node("/", OPEN_ACL, stat({ numChildren: 3 }));
  survey.node("/é", digest, stat({ dataLength: 10 }));
  survey.node("/a/b/c", OPEN_ACL, stat({ ephemeralOwner: 0x0300_0000_0000_0001n }));
  survey.node("/a/b/d", OPEN_ACL, stat({ ephemeralOwner: 0x0300_0000_0000_0001n }));
  survey.node("/ttl", OPEN_ACL, stat({ ephemeralOwner: BigInt.asIntN(64, 0xff00_0000_0000_1000n) }));
  survey.node("/container", OPEN_ACL, stat({ ephemeralOwner: -(2n ** 63n) }));
  survey.unread("/secret");
  survey.unread("/other");
  expect(survey.facts("zk:1", ALONE)).toEqual({
    address: "zk:1",
    nodes: 6,
    dataBytes: 10,
    ephemerals: 2,
    ownerBytes: new Set([3]),
    owners: 1,
    longestData: { count: 10, path: "/é" },
    longestPath: { count: 10, path: "/container" },
    deepestPath: { count: 3, path: "/a/b/c" },
    mostChildren: { count: 3, path: "/" },
    schemes: new Map([
      ["world", { count: 5, path: "/" }],
      ["digest", { count: 1, path: "/é" }],
    ]),
    hiddenKinds: { count: 2, path: "/ttl" },
    unread: { count: 2, path: "/secret" },
    members: [],
    hasReconfig: undefined,
  });
});

test("schemes beyond a hundred are not kept", () => {
  const survey = new TreeSurvey();
  for (let i = 0; i < 200; i++) survey.node(`/${i}`, [{ perms: 1, scheme: `s${i}`, id: "" }], stat());
  expect(survey.facts("zk:1", ALONE).schemes.size).toBe(100);
});
