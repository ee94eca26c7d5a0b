import { mix32 } from "@zooid/model";
import { expect, test } from "vitest";
import { HashTable } from "./hash-table.ts";

function idsOf(table: HashTable, hash: number): number[] {
  const ids: number[] = [];
  for (let id = table.first(hash); id !== 0; id = table.next()) ids.push(id);
  return ids.sort((a, b) => a - b);
}

test("every id is found under its hash while segments split and merge", () => {
  const table = new HashTable();
  const count = 50_000;
  for (let id = 1; id <= count; id++) table.insert(mix32(id), id);
  for (let id = 1; id <= count; id++) expect(idsOf(table, mix32(id))).toEqual([id]);

  for (let id = 1; id <= count; id++) if (id % 100 !== 0) table.remove(mix32(id), id);

  expect(table.count).toBe(count / 100);
  for (let id = 1; id <= count; id++) expect(idsOf(table, mix32(id))).toEqual(id % 100 === 0 ? [id] : []);
  for (let id = 1; id <= count; id++) if (id % 100 !== 0) table.insert(mix32(id), id);
  for (let id = 1; id <= count; id++) expect(idsOf(table, mix32(id))).toEqual([id]);
});

test("ids of one hash are all offered, and only they", () => {
  const table = new HashTable();
  for (let id = 1; id <= 30; id++) table.insert(id % 3, id);
  table.remove(1, 4);
  expect(idsOf(table, 0)).toEqual([3, 6, 9, 12, 15, 18, 21, 24, 27, 30]);
  expect(idsOf(table, 1)).toEqual([1, 7, 10, 13, 16, 19, 22, 25, 28]);
});

test("neighbours at the end of a segment wrap to its start and stay findable after removals", () => {
  const table = new HashTable();
  for (let id = 1; id <= 10; id++) table.insert(4093 + (id % 3), id);
  for (let id = 1; id <= 10; id += 2) table.remove(4093 + (id % 3), id);
  expect([...idsOf(table, 4093), ...idsOf(table, 4094), ...idsOf(table, 4095)].sort((a, b) => a - b)).toEqual([
    2, 4, 6, 8, 10,
  ]);
});
