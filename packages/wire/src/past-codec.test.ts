import { OPEN_ACL, type PastNode, type PastRefusal, type Zxid } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { JuteReader } from "./jute-reader.ts";
import { JuteWriter } from "./jute-writer.ts";
import {
  decodePastChanges,
  decodePastChildren,
  decodePastNode,
  encodePastChanges,
  encodePastChildren,
  encodePastNode,
  encodePastRefusal,
  readPastRefusal,
  type ShownChanges,
} from "./past-codec.ts";

const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const zxid = fc.nat(2 ** 31 - 1).map((value) => (value * 2 ** 20) as Zxid);
const time = fc.integer({ min: 0, max: 2 ** 50 });
const data = fc.option(fc.uint8Array({ maxLength: 50 }));
const NODE = fc.record({
  data,
  acl: fc.constant(OPEN_ACL),
  czxid: zxid,
  mzxid: zxid,
  ctimeMs: time,
  mtimeMs: time,
  version: int,
  aversion: int,
  ownerHigh: int,
  ownerLow: int,
});
const CHANGES = fc.record({
  begins: zxid,
  changes: fc.array(
    fc.record({
      path: fc.string({ unit: "grapheme" }),
      zxid,
      timeMs: time,
      op: int,
      version: int,
      who: fc.string({ unit: "grapheme" }),
      isReadable: fc.boolean(),
      data,
    }),
  ),
  gaps: fc.array(fc.record({ after: zxid, end: zxid })),
  reached: zxid,
  isLast: fc.boolean(),
});

function plain<T extends { readonly data: Uint8Array | null }>(value: T): T {
  return { ...value, data: value.data === null ? null : Uint8Array.from(value.data) };
}

function encoded({ changes, ...page }: ShownChanges): Uint8Array {
  return encodePastChanges({ ...page, changes: changes.map((one) => ({ ...one, path: Buffer.from(one.path) })) });
}

test("a node of the past keeps its fields", () => {
  fc.assert(
    fc.property(NODE, (node: PastNode) => {
      expect(plain(decodePastNode(encodePastNode(node)))).toEqual(node);
    }),
  );
});

const [first, last] = [5 as Zxid, (2 ** 45) as Zxid];

test.each<PastRefusal>([
  { reach: { first, last }, fault: undefined },
  { reach: undefined, fault: { kind: "behind", askedMs: 7, zxid: last, timeMs: 6 } },
  { reach: { first, last }, fault: { kind: "before", askedMs: 7, zxid: first, timeMs: 8 } },
  { reach: { first, last }, fault: { kind: "gap", askedMs: 7, after: first, end: last } },
  { reach: { first, last }, fault: { kind: "twice", askedMs: 7, first, last } },
])("a refusal is read where it is whole, and from no other body (case %#)", (refusal) => {
  const writer = new JuteWriter();
  const bytes = encodePastRefusal(refusal);
  writer.range(bytes, 0, bytes.length);
  const reader = new JuteReader();
  for (let end = 0; end <= writer.end; end++) {
    reader.reset(writer.bytes, 0, end);
    expect(readPastRefusal(reader)).toEqual(end === writer.end ? refusal : undefined);
  }
  reader.reset(Buffer.alloc(40), 0, 40);
  expect(readPastRefusal(reader)).toBeUndefined();
});

test("of a refusal for a reason of a later version the reach is read", () => {
  const bytes = encodePastRefusal({
    reach: { first, last },
    fault: { kind: "gap", askedMs: 7, after: first, end: last },
  });
  bytes[19] = 9;
  const writer = new JuteWriter();
  writer.range(bytes, 0, bytes.length);
  const reader = new JuteReader();
  reader.reset(writer.bytes, 0, writer.end);
  expect(readPastRefusal(reader)).toEqual({ reach: { first, last }, fault: undefined });
});

test("names of children keep their order", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1, unit: "grapheme" })), (names) => {
      expect(decodePastChildren(encodePastChildren({ names }))).toEqual({ names });
    }),
  );
});

test("a page of changes keeps its fields", () => {
  fc.assert(
    fc.property(CHANGES, (page: ShownChanges) => {
      const { changes, ...rest } = decodePastChanges(encoded(page));
      expect({ ...rest, changes: changes.map(plain) }).toEqual(page);
    }),
  );
});

test("what is cut off is refused, wherever that is", () => {
  const change = {
    path: "/a",
    zxid: 1 as Zxid,
    timeMs: 2,
    op: 5,
    version: 3,
    isReadable: true,
    who: "10.0.0.1",
    data: Buffer.from("data"),
  };
  const page = encoded({ begins: 1 as Zxid, changes: [change], gaps: [], reached: 1 as Zxid, isLast: true });
  for (let end = 0; end < page.length; end++) expect(() => decodePastChanges(page.subarray(0, end))).toThrow();
});
