import { sliceOf } from "@zooid/model";
import { expect, test } from "vitest";
import { OPEN_ACL_ID } from "./acl-table.ts";
import { NO_NODE, ROOT } from "./node-row.ts";
import { NodeStore } from "./node-store.ts";

/** Bytes, and how many of them were read. */
function watched(text: string): { readonly bytes: Buffer; readonly readCount: () => number } {
  let readCount = 0;
  const bytes = new Proxy(Buffer.from(text), {
    get(target, property): unknown {
      readCount++;
      return Reflect.get(target, property, target);
    },
  });
  return { bytes, readCount: () => readCount };
}

test("a name that is longer than any is not looked at", () => {
  const store = new NodeStore({ k0: 1, k1: 7 });
  store.createRoot(1);
  const { bytes, start, end } = sliceOf("short");
  store.create(ROOT, bytes, start, end, 2);
  const { bytes: long, readCount } = watched("x".repeat(1000));
  expect(store.child(ROOT, long, 0, 1000)).toBe(NO_NODE);
  expect(readCount()).toBe(0);
  expect(store.child(ROOT, bytes, start, end)).not.toBe(NO_NODE);
});

test("a path is read no further than to the first name that is longer than any", () => {
  const store = new NodeStore({ k0: 1, k1: 7 });
  store.createRoot(1);
  const name = sliceOf("short");
  const short = store.create(ROOT, name.bytes, name.start, name.end, 2);
  store.create(short, name.bytes, name.start, name.end, 3);
  for (const text of [`/${"x".repeat(1000)}`, `/short/${"x".repeat(1000)}`]) {
    const { bytes, readCount } = watched(text);
    expect(store.find(bytes, 0, bytes.length)).toBe(NO_NODE);
    expect(readCount()).toBeLessThan(50);
  }
  const { bytes } = sliceOf("/short/short");
  expect(store.find(bytes, 0, 12)).not.toBe(NO_NODE);
});

test("an index that is used again has nothing of the node before", () => {
  const store = new NodeStore({ k0: 1, k1: 7 });
  store.createRoot(1);
  const { bytes, start, end } = sliceOf("name");
  const before = store.create(ROOT, bytes, start, end, 7 * 2 ** 32 + 2 ** 31 + 5);
  store.setAclId(before, 9);
  expect(store.id(before)).toBe(7 * 2 ** 32 + 2 ** 31 + 5);
  expect(store.aclId(before)).toBe(9);
  const child = store.create(before, bytes, start, end, 4);
  expect(store.listings.bytes(before)).toBeGreaterThan(0);
  store.remove(child);
  store.remove(before);
  expect(store.exists(before)).toBe(false);
  const after = store.create(ROOT, bytes, start, end, 8);
  const other = store.create(ROOT, Buffer.from("other"), 0, 5, 9);
  expect([after, other].sort()).toEqual([before, child].sort());
  for (const node of [after, other]) {
    store.setAclId(node, OPEN_ACL_ID);
    expect([store.firstChild(node), store.listings.bytes(node), store.aclId(node)]).toEqual([NO_NODE, 0, OPEN_ACL_ID]);
  }
  expect(store.id(after)).toBe(8);
});

test("the last node on the way to a path is the deepest one that is there", () => {
  const store = new NodeStore({ k0: 1, k1: 7 });
  const root = store.createRoot(1);
  const ids: number[] = [root];
  for (const name of ["a", "bc", "d"]) {
    const { bytes, start, end } = sliceOf(name);
    ids.push(store.create(ids.at(-1) ?? root, bytes, start, end, ids.length + 1));
  }
  for (const [path, depth] of [
    ["/", 0],
    ["/x", 0],
    ["/ab", 0],
    ["/a", 1],
    ["/a/b", 1],
    ["/a/bc", 2],
    ["/a/bc/d", 3],
    ["/a/bc/d/e/f", 3],
    [`/a/${"b".repeat(1 << 20)}/d`, 1],
  ] as const) {
    const { bytes, start, end } = sliceOf(path);
    expect(store.nearest(bytes, start, end), path.slice(0, 20)).toBe(ids[depth]);
  }
  expect(store.parent(root)).toBe(NO_NODE);
});
