import { expect, test } from "vitest";
import { ChangeCounts } from "./change-counts.ts";

test("the most changed nodes come first, with what happened to each", () => {
  const counts = new ChangeCounts(0);
  for (let i = 0; i < 3; i++) counts.add("data-changed", "/a", 10);
  counts.add("created", "/b", 20);
  counts.add("deleted", "/b", 20);
  counts.add("created", "/c", 20);
  expect(counts.summary(1_000, 2)).toEqual({
    spanMs: 1_000,
    eventCount: 6,
    nodes: [
      { path: "/a", created: 0, changed: 3, deleted: 0 },
      { path: "/b", created: 1, changed: 0, deleted: 1 },
    ],
  });
});

test("changes are counted for the present and the last minute", () => {
  const counts = new ChangeCounts(0);
  counts.add("data-changed", "/a", 59_999);
  counts.add("data-changed", "/a", 60_001);
  expect(counts.summary(100_000, 9)).toMatchObject({ spanMs: 100_000, eventCount: 2, nodes: [{ changed: 2 }] });
  expect(counts.summary(120_001, 9)).toMatchObject({ spanMs: 60_001, eventCount: 1, nodes: [{ changed: 1 }] });
  expect(counts.summary(500_000, 9)).toMatchObject({ spanMs: 60_000, eventCount: 0, nodes: [] });
});

test("of very many nodes, one with a steady share is kept", () => {
  const counts = new ChangeCounts(0);
  for (let i = 0; i < 20_000; i++) {
    counts.add("created", `/n${i}`, 0);
    if (i % 100 === 0) counts.add("data-changed", "/hot", 0);
  }
  const { nodes, eventCount } = counts.summary(1, 100_000);
  expect(nodes[0]).toMatchObject({ path: "/hot", changed: 200 });
  expect([nodes.length <= 4_096, eventCount]).toEqual([true, 20_200]);
});
