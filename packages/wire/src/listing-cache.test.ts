import { emptySlice, type NodeView, OPEN_ACL, STAT_BYTES, StatOffset, setSlice, sliceOf } from "@zooid/model";
import { expect, test } from "vitest";
import { JuteReader } from "./jute-reader.ts";
import { JuteWriter } from "./jute-writer.ts";
import { ListingCache } from "./listing-cache.ts";
import { readNames } from "./reply-reader.ts";

interface Version {
  readonly id?: number;
  readonly czxid?: number;
  readonly pzxid?: number;
  readonly cversion?: number;
}

/** A node with some children, which counts how often they are walked. */
function parent(names: readonly string[], { id = 1, czxid = 1, pzxid = 1, cversion = 1 }: Version = {}) {
  const statView = new DataView(new ArrayBuffer(STAT_BYTES));
  statView.setInt32(StatOffset.czxid + 4, czxid);
  statView.setInt32(StatOffset.pzxid + 4, pzxid);
  statView.setInt32(StatOffset.cversion, cversion);
  const childName = emptySlice();
  let next = 0;
  const node = {
    id,
    statView,
    statStart: 0,
    hasData: false,
    data: emptySlice(),
    acl: OPEN_ACL,
    childCount: names.length,
    name: emptySlice(),
    childName,
    walkCount: 0,
    firstChild() {
      this.walkCount++;
      next = 0;
      return this.nextChild();
    },
    nextChild() {
      const name = names[next++];
      if (name === undefined) return false;
      const { bytes, start, end } = sliceOf(name);
      setSlice(childName, bytes, start, end);
      return true;
    },
  };
  return node satisfies NodeView;
}

function listed(cache: ListingCache, node: NodeView): string[] {
  const writer = new JuteWriter();
  cache.write(writer, node);
  const reader = new JuteReader();
  reader.reset(writer.bytes, 0, writer.end);
  return readNames(reader);
}

const names = (count: number, letter = "n") => Array.from({ length: count }, (_, i) => `${letter}${i}`);

test("a list that is asked for a third time is not walked any more", () => {
  const cache = new ListingCache();
  const node = parent(names(20));
  for (let i = 0; i < 5; i++) expect(listed(cache, node)).toEqual(names(20));
  expect(node.walkCount).toBe(2);
});

test.each([
  ["a child comes or goes", { pzxid: 2, cversion: 2 }],
  ["two changes cancel out in one transaction", { cversion: 3 }],
  ["the node is another one in the same place", { czxid: 5 }],
])("it is walked again when %s", (_, version) => {
  const cache = new ListingCache();
  for (let i = 0; i < 3; i++) listed(cache, parent(names(20)));
  const changed = parent(names(20, "m"), version);
  for (let i = 0; i < 3; i++) expect(listed(cache, changed)).toEqual(names(20, "m"));
});

test("lists that change each time, and short ones, are not kept", () => {
  const cache = new ListingCache();
  for (let i = 0; i < 100; i++) listed(cache, parent(names(20), { pzxid: i, cversion: i }));
  const short = parent(names(3));
  for (let i = 0; i < 5; i++) listed(cache, short);
  expect([cache.bytes, short.walkCount]).toEqual([0, 5]);
});

test("what is kept is bounded, and the longest unused goes first", () => {
  const cache = new ListingCache();
  const large = (id: number) => parent(names(1_000, `${"x".repeat(500)}${id}-`), { id });
  const first = large(0);
  for (let i = 0; i < 3; i++) listed(cache, first);
  for (let id = 1; id < 30; id++) for (let i = 0; i < 3; i++) listed(cache, large(id));
  expect(cache.bytes).toBeLessThanOrEqual(4 * 1024 * 1024);
  expect(cache.bytes).toBeGreaterThan(2 * 1024 * 1024);
  listed(cache, first);
  expect(first.walkCount).toBe(3);
});

test("a list that is larger than may be kept is written all the same", () => {
  const cache = new ListingCache();
  const huge = parent(names(3_000, "x".repeat(500)));
  for (let i = 0; i < 3; i++) expect(listed(cache, huge)).toHaveLength(3_000);
  expect([cache.bytes, huge.walkCount]).toEqual([0, 3]);
});
