import type { Stat, Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { formatJavaDate } from "./java-date.ts";
import { statJson, statLines } from "./stat-text.ts";

const STAT: Stat = {
  czxid: 0x1_0000_0002 as Zxid,
  mzxid: 0x1_0000_000a as Zxid,
  pzxid: 0x1_0000_0002 as Zxid,
  ctimeMs: 0,
  mtimeMs: 1000,
  version: 3,
  cversion: -2,
  aversion: 1,
  ephemeralOwner: -1n,
  dataLength: 5,
  numChildren: 0,
};

test("eleven lines in the order that scripts expect", () => {
  expect(statLines(STAT)).toEqual([
    "cZxid = 0x100000002",
    `ctime = ${formatJavaDate(0)}`,
    "mZxid = 0x10000000a",
    `mtime = ${formatJavaDate(1000)}`,
    "pZxid = 0x100000002",
    "cversion = -2",
    "dataVersion = 3",
    "aclVersion = 1",
    "ephemeralOwner = 0xffffffffffffffff",
    "dataLength = 5",
    "numChildren = 0",
  ]);
});

test("in JSON what has 64 bits is text", () => {
  expect(statJson(STAT)).toMatchObject({
    czxid: "0x100000002",
    ephemeralOwner: "0xffffffffffffffff",
    mtime: "1970-01-01T00:00:01.000Z",
    version: 3,
  });
});
