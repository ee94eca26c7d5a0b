import { type Acl, OPEN_ACL } from "@zooid/model";
import { expect, test } from "vitest";
import { AclTable } from "./acl-table.ts";

const acl = (id: string): Acl => [{ perms: 31, scheme: "digest", id }];

test("equal content has one number, and an unused list is forgotten", () => {
  const table = new AclTable({ k0: 1, k1: 7 });
  const first = table.acquire(acl("a"));
  expect(table.acquire(acl("a"))).toBe(first);
  const second = table.acquire(acl("b"));
  expect(second).not.toBe(first);
  expect(table.get(first)).toEqual(acl("a"));
  expect(table.count).toBe(3);
  table.release(first);
  expect(table.get(first)).toEqual(acl("a"));
  table.release(first);
  expect(table.count).toBe(2);
  expect(table.acquire(acl("c"))).toBe(first);
  expect([table.get(first), table.get(second)]).toEqual([acl("c"), acl("b")]);
});

test("a list that was forgotten has a number of its own when it comes again", () => {
  const table = new AclTable({ k0: 1, k1: 7 });
  const [first, second] = [acl("a"), acl("b")];
  const id = table.acquire(first);
  expect(table.acquire(first)).toBe(id);
  table.release(id);
  table.release(id);
  expect(table.acquire(second)).toBe(id);
  const again = table.acquire(first);
  expect([table.get(id), table.get(again)]).toEqual([second, first]);
});

test("the open list keeps its number, however it is written", () => {
  const table = new AclTable({ k0: 1, k1: 7 });
  const id = table.acquire(OPEN_ACL);
  const same = table.acquire([{ perms: 31, scheme: "world", id: "anyone" }]);
  table.release(id);
  table.release(same);
  expect(table.acquire(OPEN_ACL)).toBe(id);
  expect(same).toBe(id);
});

test("what lists take is counted while they are in use, and once each", () => {
  const table = new AclTable({ k0: 1, k1: 7 });
  const { bytes } = table;
  const id = table.acquire(acl("x".repeat(1000)));
  table.acquire(acl("x".repeat(1000)));
  expect(table.bytes - bytes).toBe(64 + "digest".length + 1000);
  table.release(id);
  table.release(id);
  expect(table.bytes).toBe(bytes);
});

test("order, permissions, scheme and id all make a difference", () => {
  const table = new AclTable({ k0: 1, k1: 7 });
  const [a] = acl("a");
  const [b] = acl("b");
  const lists: Acl[] = [[a], [b], [a, b], [b, a], [{ ...a, perms: 1 }], [{ ...a, scheme: "ip" }], [a, a], []];
  expect(new Set(lists.map((list) => table.acquire(list))).size).toBe(lists.length);
});
