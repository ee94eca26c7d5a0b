import { expect, test } from "vitest";
import { Ephemerals } from "./ephemerals.ts";
import { SessionTable } from "./session-table.ts";

function nodesOf(ephemerals: Ephemerals, high: number, low: number): number[] {
  const nodes: number[] = [];
  for (let node = ephemerals.first(high, low); node !== 0; node = ephemerals.next(node)) nodes.push(node);
  return nodes.sort((a, b) => a - b);
}

test("a session's nodes are its own, also where an index is used again", () => {
  const ephemerals = new Ephemerals(new SessionTable());
  for (const node of [1, 2, 3]) ephemerals.add(7, 7, node);
  ephemerals.add(7, 8, 4);
  ephemerals.remove(7, 7, 2);
  ephemerals.add(7, 7, 2);
  ephemerals.remove(7, 7, 2);
  ephemerals.add(7, 8, 2);
  expect(nodesOf(ephemerals, 7, 7)).toEqual([1, 3]);
  expect(nodesOf(ephemerals, 7, 8)).toEqual([2, 4]);
  expect(ephemerals.count).toBe(4);
});

test("a session that nothing is known of any more leaves no row behind", () => {
  const sessions = new SessionTable();
  const ephemerals = new Ephemerals(sessions);
  ephemerals.add(1, 2, 10);
  expect(sessions.find(1, 2)).not.toBe(0);
  ephemerals.remove(1, 2, 10);
  expect(sessions.find(1, 2)).toBe(0);
  expect(sessions.findOrAdd(3, 4)).toBe(1);
});

test("a listing of a session's nodes meets those that stay, once, while others are removed and added", () => {
  for (const removed of [1, 2, 3, 4, 5]) {
    for (let moment = 0; moment < 5; moment++) {
      const ephemerals = new Ephemerals(new SessionTable());
      for (const node of [1, 2, 3, 4, 5]) ephemerals.add(7, 7, node);
      const met: number[] = [];
      for (const node of ephemerals.list(7, 7)) {
        met.push(node);
        if (met.length !== moment + 1) continue;
        ephemerals.remove(7, 7, removed);
        ephemerals.add(8, 8, removed);
        ephemerals.add(7, 7, 9);
      }
      const staying = [1, 2, 3, 4, 5].filter((node) => node !== removed);
      expect(met.filter((node) => node !== removed).sort()).toEqual(staying);
    }
  }
});
