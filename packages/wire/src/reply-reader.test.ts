import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { WireError } from "@zooid/model";
import { expect, test } from "vitest";
import { JuteReader } from "./jute-reader.ts";
import {
  readAclEntries,
  readClientInfos,
  readData,
  readNames,
  readPartResults,
  readStat,
  readWatcherEvent,
} from "./reply-reader.ts";

const STAT_HEX =
  "0000000100000002 0000000100000003 0000019000000000 0000019000000001 00000004 00000005 00000006 0100075bcd150000 00000007 00000008 0000000100000009";
const STAT = {
  czxid: 0x1_0000_0002,
  mzxid: 0x1_0000_0003,
  ctimeMs: 0x190_0000_0000,
  mtimeMs: 0x190_0000_0001,
  version: 4,
  cversion: 5,
  aversion: 6,
  ephemeralOwner: 0x0100075bcd150000n,
  dataLength: 7,
  numChildren: 8,
  pzxid: 0x1_0000_0009,
};

const CASES = [
  ["a Stat", STAT_HEX, readStat, STAT],
  ["data", "00000002 0102", readData, Uint8Array.of(1, 2)],
  ["empty data", "00000000", readData, new Uint8Array(0)],
  ["null data", "ffffffff", readData, null],
  ["names", "00000002 00000001 61 00000002 c3a4", readNames, ["a", "ä"]],
  [
    "an access list",
    "00000001 0000001f 00000005 776f726c64 00000006 616e796f6e65",
    readAclEntries,
    [{ perms: 31, scheme: "world", id: "anyone" }],
  ],
  ["identities", "00000001 00000002 6970 00000003 3a3a31", readClientInfos, [{ scheme: "ip", user: "::1" }]],
  ["an event", "00000003 00000003 00000002 2f61", readWatcherEvent, { type: 3, path: "/a" }],
  [
    "the results of a multi that succeeded",
    `00000001 00 00000000 00000002 2f61 0000000f 00 00000000 00000002 2f62 ${STAT_HEX} 00000005 00 00000000 ${STAT_HEX}
     00000002 00 00000000 0000000d 00 00000000 ffffffff 01 ffffffff`,
    readPartResults,
    [
      { op: "create", path: "/a", stat: undefined },
      { op: "create", path: "/b", stat: STAT },
      { op: "set", stat: STAT },
      { op: "done" },
      { op: "done" },
    ],
  ],
  [
    "the results of a multi that failed",
    "ffffffff 00 00000000 00000000 ffffffff 00 ffffff9b ffffff9b ffffffff 00 fffffffe fffffffe ffffffff 01 ffffffff",
    readPartResults,
    [
      { op: "error", code: 0 },
      { op: "error", code: -101 },
      { op: "error", code: -2 },
    ],
  ],
  [
    "the results of a multiRead",
    `00000004 00 00000000 00000001 78 ${STAT_HEX} 00000008 00 00000000 00000001 00000001 61 ffffffff 01 ffffffff`,
    readPartResults,
    [
      { op: "data", data: Uint8Array.of(0x78), stat: STAT },
      { op: "children", names: ["a"] },
    ],
  ],
] as const;

function readerOf(hex: string): { readonly reader: JuteReader; readonly bytes: Buffer } {
  const bytes = Buffer.from(hex.replace(/\s/g, ""), "hex");
  const reader = new JuteReader();
  reader.reset(bytes, 0, bytes.length);
  return { reader, bytes };
}

test.each(CASES)("%s", (_, hex, read, value) => {
  const { reader } = readerOf(hex);
  expect(read(reader)).toEqual(value);
  expect(reader.rest).toBe(0);
});

test.each(CASES)("%s that ends too early is refused, wherever it ends", (_, hex, read) => {
  const { reader, bytes } = readerOf(hex);
  for (let end = 0; end < bytes.length; end++) {
    reader.reset(bytes, 0, end);
    expect(() => read(reader), `${end} of ${bytes.length} bytes`).toThrow(WireError);
  }
});

test.each([
  ["data of a negative length", "fffffffe", readData],
  ["an event of an unknown type", "00000009 00000003 00000000", readWatcherEvent],
  ["a result of an unknown type", "00000063 00 00000000", readPartResults],
  ["more names than bytes", "7fffffff 00000001 61", readNames],
  ["an empty name", "00000002 00000001 61 00000000 00", readNames],
  ["a name that is null", "00000002 00000001 61 ffffffff 00", readNames],
  ["an empty scheme of an access list", "00000001 0000001f 00000000 00000001 61", readAclEntries],
  ["an empty scheme of an identity", "00000001 00000000 00000001 61", readClientInfos],
] as const)("%s is refused", (_, hex, read) => {
  expect(() => read(readerOf(hex).reader)).toThrow(WireError);
});

test("a session without an owner, and a zxid of -1", () => {
  const none = STAT_HEX.replace("0100075bcd150000", "0000000000000000").replace("0000000100000002", "ffffffffffffffff");
  expect(readStat(readerOf(none).reader)).toMatchObject({ ephemeralOwner: 0n, czxid: -1 });
});

test("more results than a multi has parts are refused, and so are ten thousand identities", () => {
  const done = "0000000d 00 00000000";
  const results = readerOf(`${done}${done}ffffffff 01 ffffffff`).reader;
  expect(() => readPartResults(results, 1)).toThrow("more results than the 1 parts");
  expect(readPartResults(readerOf(`${done}${done}ffffffff 01 ffffffff`).reader, 2)).toHaveLength(2);
  const identities = Buffer.alloc(4 + 10_001 * 9, "000000016100000000", "hex");
  identities.writeInt32BE(10_001);
  const reader = new JuteReader();
  reader.reset(identities, 0, identities.length);
  expect(() => readClientInfos(reader)).toThrow("10001 identities");
});

/** Fields of the smallest entries that are not refused, of which a frame has the most. */
const SMALLEST = [
  ["names of one letter", "00000001 61", readNames],
  ["names of two letters", "00000002 6162", readNames],
  ["entries of an access list", "0000001f 00000001 61 00000000", readAclEntries],
  ["steps that are done", "0000000d 00 00000000", readPartResults],
  ["steps that have failed", "ffffffff 00 00000000 ffffff9b", readPartResults],
  ["created paths", "00000001 00 00000000 00000001 61", readPartResults],
] as const;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test.each(SMALLEST)("%s take at most 8 bytes of memory for each byte of the frame", (_, hex, read) => {
  const BYTES = 2 ** 21;
  const entry = Buffer.from(hex.replaceAll(" ", ""), "hex");
  const count = Math.floor(BYTES / entry.length);
  const end = Buffer.from("ffffffff01ffffffff", "hex");
  const counted = Buffer.alloc(4);
  counted.writeInt32BE(count);
  const parts = Array.from({ length: count }, () => entry);
  const bytes = read === readPartResults ? Buffer.concat([...parts, end]) : Buffer.concat([counted, ...parts]);
  const reader = new JuteReader();
  reader.reset(bytes, 0, bytes.length);
  collect();
  const before = process.memoryUsage().heapUsed;
  const decoded = read(reader);
  collect();
  const heldBytes = process.memoryUsage().heapUsed - before;
  expect(decoded).toHaveLength(count);
  expect(heldBytes / bytes.length).toBeLessThan(8);
});
