import { type ConnectionRef, composeZxid, sliceOf, unkeyedHash32, WatchMode, WatchTableKind } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { DataTree } from "../data-tree.ts";
import { PendingChanges } from "../prepare/pending-changes.ts";
import { collidingNames } from "../testing/collisions.ts";
import { create, TestTree } from "../testing/tree.ts";
import { AclTable } from "./acl-table.ts";
import { HashTable } from "./hash-table.ts";

const KEY = { k0: 5, k1: 6 };

test("the names used here have one hash under MurmurHash3, whatever its seed", () => {
  const names = collidingNames(8192).map((name) => sliceOf(name));
  expect(new Set(names.map(({ bytes }) => Buffer.from(bytes).toString())).size).toBe(8192);
  for (const seed of [0, 1, -77, 0x5a4f4f49]) {
    const hashes = new Set(names.map(({ bytes, start, end }) => unkeyedHash32(bytes, start, end, seed)));
    expect(hashes.size).toBe(1);
  }
});

describe("thousands of names that one client chose to collide", () => {
  const names = collidingNames(5000);

  test("are created, found, loaded again and removed", () => {
    const test = new TestTree();
    for (const name of names) test.propose(create(`/${name}`));
    test.applyAll();
    const loaded = new DataTree({ hashKey: KEY });
    loaded.loadSnapshot(test.tree.snapshot());
    for (const tree of [test.tree, loaded]) {
      for (const name of names) {
        const { bytes, start, end } = sliceOf(`/${name}`);
        expect(tree.find(bytes, start, end)).not.toBe(0);
      }
    }
    expect([loaded.digestHigh, loaded.digestLow]).toEqual([test.tree.digestHigh, test.tree.digestLow]);
  });

  test("are watched", () => {
    const { watches } = new DataTree({ hashKey: KEY });
    const connection = 1 as ConnectionRef;
    for (const name of names) {
      const { bytes, start, end } = sliceOf(`/${name}`);
      watches.arm(WatchTableKind.DATA, bytes, start, end, connection, WatchMode.STANDARD);
    }
    expect(watches.watchCount).toBe(names.length);
    watches.removeConnection(connection);
    expect(watches.watchCount).toBe(0);
  });

  test("have proposals in flight", () => {
    const pending = new PendingChanges(KEY);
    // The names stand where a word of the hash begins.
    const paths = names.map((name) => sliceOf(`/ab/${name}`));
    for (const { bytes, start, end } of paths) pending.add(bytes, start, end, composeZxid(1, 1));
    let readCountMax = 0;
    for (const { bytes, start, end } of paths.slice(0, 50).concat(paths.slice(-50))) {
      let readCount = 0;
      const counted = new Proxy(bytes, {
        get(target, property): unknown {
          readCount++;
          return Reflect.get(target, property, target);
        },
      });
      expect(pending.find(counted, start, end)).toBeDefined();
      readCountMax = Math.max(readCountMax, readCount);
    }
    expect(readCountMax).toBeLessThan(names.length / 2);
    pending.applied(composeZxid(1, 1));
    expect(pending.count).toBe(0);
  });

  test("stand in access lists", () => {
    const table = new AclTable(KEY);
    const lists = names.map((id) => [{ perms: 31, scheme: "digest", id }]);
    const ids = lists.map((list) => table.acquire(list));
    expect(new Set(ids).size).toBe(names.length);
    expect(lists.map((list) => table.acquire(list))).toEqual(ids);
  });
});

describe("a table whose hashes agree", () => {
  const cases: [string, (id: number) => number][] = [
    ["in all bits", () => 0x1234_5678],
    ["in their high bits", (id) => id & 0x000f_ffff],
    ["in their low bits", (id) => id << 12],
    ["in three values", (id) => (id % 3) * 0x4000_0000],
    ["in nothing", (id) => Math.imul(id, 0x9e37_79b1)],
  ];

  test.each(cases)("%s finds and removes every id", (_, hashOf) => {
    const count = 20_000;
    const table = new HashTable();
    for (let id = 1; id <= count; id++) table.insert(hashOf(id), id);
    expect(table.count).toBe(count);
    const found = (hash: number): Set<number> => {
      const ids = new Set<number>();
      for (let id = table.first(hash); id !== 0; id = table.next()) ids.add(id);
      return ids;
    };
    for (let id = 1; id <= count; id += 997) expect(found(hashOf(id)).has(id)).toBe(true);
    for (let id = 1; id <= count; id += 2) table.remove(hashOf(id), id);
    expect(found(hashOf(2)).has(2)).toBe(true);
    expect(found(hashOf(1)).has(1)).toBe(false);
    for (let id = 2; id <= count; id += 2) table.remove(hashOf(id), id);
    expect([table.count, found(hashOf(2)).size]).toEqual([0, 0]);
  });

  test("in all but a few bits keeps a directory that is short for its entries", () => {
    const table = new HashTable();
    for (let id = 1; id <= 20_000; id++) table.insert(id & 0x000f_ffff, id);
    expect(table.directoryLength).toBeLessThanOrEqual(128);
  });
});
