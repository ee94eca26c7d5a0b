import { expect, test } from "vitest";
import { type Judgement, judge, type Readings } from "./judge.ts";
import type { NodeState } from "./node-state.ts";

function state(more: Partial<NodeState> = {}): NodeState {
  return {
    czxid: 10,
    ctimeMs: 1,
    owner: 0n,
    version: 0,
    mzxid: 20,
    mtimeMs: 1,
    data: { byteCount: 1, sha256: "a" },
    aversion: 3,
    acl: "[]",
    pzxid: 30,
    creates: 2,
    ...more,
  };
}

const OTHER_DATA = { data: { byteCount: 1, sha256: "b" } };
const AT = { isBetween: true, startZxid: 100 };

test.each<[string, Partial<Readings>, Judgement["verdict"], readonly string[]]>([
  ["three equal readings are the same", {}, "same", []],
  ["absence at all is the same", { before: "absent", other: "absent", after: "absent" }, "same", []],
  ["other data of one mzxid differ", { other: state(OTHER_DATA) }, "differs", ["data"]],
  ["so they do where the other side is late", { other: state(OTHER_DATA), isBetween: false }, "differs", ["data"]],
  ["an older version than before differs", { other: state({ mzxid: 19 }) }, "differs", ["data"]],
  ["where the other side is late, it moves", { other: state({ mzxid: 19 }), isBetween: false }, "moved", []],
  [
    "a version between those of the reads moves",
    { other: state({ mzxid: 25, version: 1 }), after: state({ mzxid: 29, version: 2 }) },
    "moved",
    [],
  ],
  [
    "a version of the second read is the same",
    { other: state({ mzxid: 29, version: 2 }), after: state({ mzxid: 29, version: 2 }) },
    "same",
    [],
  ],
  [
    "a version beyond both reads differs",
    { other: state({ mzxid: 40 }), after: state({ mzxid: 29 }) },
    "differs",
    ["data"],
  ],
  [
    "children that change hide no other list",
    { other: state({ pzxid: 35, acl: "[1]" }), after: state({ pzxid: 39 }) },
    "differs",
    ["acl"],
  ],
  [
    "a list that is not shown is no difference",
    { before: state({ acl: undefined }), after: state({ acl: undefined }) },
    "same",
    [],
  ],
  ["another owner differs", { other: state({ owner: 1n }) }, "differs", ["birth"]],
  ["a node that is missing differs", { other: "absent" }, "differs", ["node"]],
  ["a node that is missing in a late state moves", { other: "absent", isBetween: false }, "moved", []],
  ["another node of the path differs", { other: state({ czxid: 9 }) }, "differs", ["node"]],
  ["a node that is too much differs", { before: "absent", after: "absent" }, "differs", ["node"]],
  [
    "a node that may have come and gone between the reads moves",
    { before: "absent", after: "absent", other: state({ czxid: 101 }) },
    "moved",
    [],
  ],
  ["a node that comes is the same as at the second read", { before: "absent" }, "same", []],
  ["a node that goes is the same as at the first read", { after: "absent" }, "same", []],
  ["a node that goes and is another one moves", { after: "absent", other: state({ mzxid: 21 }) }, "moved", []],
  [
    "a node that is created again moves, where the other side has neither",
    { after: state({ czxid: 50 }), other: state({ czxid: 40 }) },
    "moved",
    [],
  ],
  ["and is the same as one of them", { after: state({ czxid: 50 }) }, "same", []],
])("%s", (_, readings, verdict, parts) => {
  expect(judge({ before: state(), other: state(), after: state(), ...AT, ...readings })).toEqual({ verdict, parts });
});
