import { expect, test } from "vitest";
import type { NodeRecord, SessionRecord } from "./snapshot.ts";
import { create, remove, setData, TestTree } from "./testing/tree.ts";
import type { TreeCapture } from "./tree-capture.ts";

interface Captured {
  readonly sessions: SessionRecord[];
  readonly nodes: NodeRecord[];
}

/** Takes the whole walk, a record or so at a time. */
function taken(capture: TreeCapture, between: () => void = () => {}): Captured {
  const captured: Captured = { sessions: [], nodes: [] };
  const sink = {
    session: (record: SessionRecord) => void captured.sessions.push(record),
    node: (record: NodeRecord) => void captured.nodes.push(record),
  };
  while (capture.next(1, sink)) between();
  return captured;
}

function filled(): TestTree {
  const test = new TestTree();
  test.proposeSession(5, 6);
  test.proposeSession(-7, 8);
  test.applyAll();
  for (let i = 0; i < 50; i++) test.commit(create(`/node-${i}`, { data: `data ${i}` }));
  // Their rows are free, and some of them are used again.
  for (let i = 10; i < 40; i++) test.commit(remove(`/node-${i}`));
  for (let i = 0; i < 5; i++) test.commit(create(`/late-${i}`));
  return test;
}

const nameOf = ({ name }: NodeRecord): string => Buffer.from(name).toString();

test("a walk over a tree that stays the same takes what a snapshot has", () => {
  const { tree } = filled();
  const capture = tree.capture();
  const { sessions, nodes } = taken(capture);
  const snapshot = [...tree.snapshot()];
  expect(snapshot[0]).toEqual({ kind: "tree", level: 1, applied: capture.applied, nextNode: capture.nextNode });
  expect(sessions.map((record) => ({ kind: "session", ...record }))).toHaveLength(2);
  const sorted = nodes.toSorted((a, b) => a.id - b.id).map((record) => ({ kind: "node", ...record }));
  expect(sorted).toEqual(snapshot.filter(({ kind }) => kind === "node"));
});

test("records are as they are when they are taken, once each, without the nodes that are created meanwhile", () => {
  const test = filled();
  const capture = test.tree.capture();
  let step = 0;
  const { nodes } = taken(capture, () => {
    test.commit(create(`/new-${step}`));
    if (step === 0) test.commit(setData("/node-49", "changed"));
    if (step === 0) test.commit(remove("/node-48"));
    step++;
  });
  const names = nodes.map(nameOf);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => name.startsWith("new-"))).toEqual([]);
  expect(names).not.toContain("node-48");
  const [changed] = nodes.filter((node) => nameOf(node) === "node-49");
  expect(Buffer.from(changed?.data ?? []).toString()).toBe("changed");
  expect(capture.applied).toBeLessThan(test.tree.applied);
});

test("one step is bounded where rows are free, too", () => {
  const test = new TestTree();
  for (let i = 0; i < 200; i++) test.commit(create(`/node-${i}`));
  for (let i = 0; i < 199; i++) test.commit(remove(`/node-${i}`));
  const capture = test.tree.capture();
  let steps = 0;
  taken(capture, () => steps++);
  expect(steps).toBeGreaterThan(10);
});
