import { emptySlice, sliceOf, sliceText } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_NODE, ROOT } from "./node-row.ts";
import { NodeStore } from "./node-store.ts";

/** A naive store to compare with: a tree of objects. */
interface Naive {
  readonly path: string;
  readonly children: Map<string, Naive>;
  readonly parent: Naive | undefined;
  data: string | null;
  created: number;
}

const SIZES = [0, 1, 11, 12, 13, 100, 124, 125, 500, 4092, 4093, 16380, 16381, 40_000, 70_000];
const NAMES = ["a", "b", "c", "n-0000000123", "x".repeat(11), "y".repeat(12), "z".repeat(300), "ß", "w".repeat(70_000)];

const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("create" as const), at: fc.nat(), name: fc.constantFrom(...NAMES) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("delete" as const), at: fc.nat() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("setData" as const),
      at: fc.nat(),
      size: fc.constantFrom(null, ...SIZES),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const), budget: fc.nat(5000) }) },
);

test("a store does what a tree of objects does", () => {
  fc.assert(
    fc.property(fc.array(command, { minLength: 30, maxLength: 200 }), fc.integer(), (commands, seed) => {
      const store = new NodeStore({ k0: seed, k1: 7 });
      store.createRoot(1);
      const root: Naive = { path: "", children: new Map(), parent: undefined, data: null, created: 0 };
      const nodes: Naive[] = [root];
      let id = 1;
      for (const [i, step] of commands.entries()) {
        if (step.kind === "compact") {
          store.compact(step.budget);
          continue;
        }
        const naive = nodes[step.at % nodes.length];
        const node = find(store, naive.path);
        expect(node).not.toBe(NO_NODE);
        if (step.kind === "create") {
          const { bytes, start, end } = sliceOf(step.name);
          expect(store.child(node, bytes, start, end) !== NO_NODE).toBe(naive.children.has(step.name));
          if (naive.children.has(step.name)) continue;
          store.create(node, bytes, start, end, ++id);
          store.setCreated(node, ++naive.created);
          const path = `${naive.path}/${step.name}`;
          const child: Naive = { path, children: new Map(), parent: naive, data: null, created: 0 };
          naive.children.set(step.name, child);
          nodes.push(child);
        } else if (step.kind === "delete") {
          if (naive.parent === undefined || naive.children.size > 0) continue;
          store.remove(node);
          naive.parent.children.delete(naive.path.slice(naive.parent.path.length + 1));
          nodes.splice(nodes.indexOf(naive), 1);
          expect(find(store, naive.path)).toBe(NO_NODE);
        } else if (step.size === null) {
          store.setNullData(node);
          naive.data = null;
        } else {
          naive.data = String.fromCharCode(97 + (i % 26)).repeat(step.size);
          const { bytes, start, end } = sliceOf(naive.data);
          store.setData(node, bytes, start, end);
        }
      }
      expect(store.count).toBe(nodes.length);
      for (const naive of nodes) expectSame(store, naive);
    }),
    { numRuns: 80 },
  );
});

test("values survive compaction, and pages are given back", () => {
  const store = new NodeStore({ k0: 1, k1: 7 });
  store.createRoot(1);
  const paths: string[] = [];
  for (let i = 0; i < 20_000; i++) {
    const { bytes, start, end } = sliceOf(`n-${i}`);
    const node = store.create(ROOT, bytes, start, end, i + 2);
    const value = sliceOf(`${i} `.repeat(20));
    store.setData(node, value.bytes, value.start, value.end);
  }
  for (let i = 0; i < 20_000; i++) {
    if (i % 10 !== 0) store.remove(find(store, `/n-${i}`));
    else paths.push(`/n-${i}`);
  }
  const before = store.pageBytes;

  while (store.compact(100) > 0);

  expect(store.pageBytes).toBeLessThan(before / 3);
  for (const path of paths) {
    const node = find(store, path);
    const slice = emptySlice();
    store.data(node, slice);
    expect(sliceText(slice)).toBe(`${path.slice(3)} `.repeat(20));
  }
});

function expectSame(store: NodeStore, naive: Naive): void {
  const node = find(store, naive.path);
  expect(node).not.toBe(NO_NODE);
  const slice = emptySlice();
  store.data(node, slice);
  expect(store.hasData(node)).toBe(naive.data !== null);
  expect(sliceText(slice) === (naive.data ?? "")).toBe(true);
  expect(store.childCount(node)).toBe(naive.children.size);
  expect(store.created(node)).toBe(naive.created);
  expect(store.descendantCount(node)).toBe(descendantCount(naive));
  expect(store.bytesBelow(node)).toBe(bytesBelow(naive));
  const names = new Set<string>();
  for (let child = store.firstChild(node); child !== NO_NODE; child = store.nextSibling(child)) {
    store.name(child, slice);
    names.add(sliceText(slice));
    expect(store.parent(child)).toBe(node);
  }
  expect(names).toEqual(new Set(naive.children.keys()));
  const length = store.pathLength(node);
  const path = Buffer.alloc(length);
  expect(store.writePath(node, path, length)).toBe(0);
  expect(path.toString() === (naive.path || "/")).toBe(true);
}

function descendantCount(naive: Naive): number {
  let count = 0;
  for (const child of naive.children.values()) count += 1 + descendantCount(child);
  return count;
}

function bytesBelow(naive: Naive): number {
  let bytes = 0;
  for (const child of naive.children.values()) bytes += (child.data?.length ?? 0) + bytesBelow(child);
  return bytes;
}

function find(store: NodeStore, path: string): number {
  const { bytes, start, end } = sliceOf(path);
  return store.find(bytes, start, end);
}
