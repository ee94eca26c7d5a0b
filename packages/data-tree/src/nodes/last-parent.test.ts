import { describe, expect, test } from "vitest";
import { LastParent } from "./last-parent.ts";
import { NO_NODE, ROOT } from "./node-row.ts";
import { NodeStore } from "./node-store.ts";

class Paths {
  readonly store = new NodeStore({ k0: 1, k1: 7 });
  #id = 1;

  constructor() {
    this.store.createRoot(this.#id++);
  }

  create(parent: number, name: string): number {
    const bytes = Buffer.from(name);
    return this.store.create(parent, bytes, 0, bytes.length, this.#id++);
  }

  find(path: string): number {
    // A request's path lies somewhere in its frame.
    const bytes = Buffer.from(`..${path}..`);
    return this.store.find(bytes, 2, bytes.length - 2);
  }
}

describe("lookups below the same parent", () => {
  test("find the same nodes the first time and later, and nothing at malformed paths", () => {
    const paths = new Paths();
    const a = paths.create(ROOT, "a");
    const b = paths.create(a, "b");
    const nodes = ["x", "y", "z"].map((name) => paths.create(b, name));
    const below = paths.create(nodes[0] ?? 0, "below");
    for (let round = 0; round < 3; round++) {
      expect(["/a/b/x", "/a/b/y", "/a/b/z"].map((path) => paths.find(path))).toEqual(nodes);
      expect(paths.find("/a/b/x/below")).toBe(below);
      expect(paths.find("/a/b")).toBe(b);
      for (const path of ["/a/b/", "/a/b//x", "/a/bb/x", "/a/b/w", "/b/b/x", "a/b/x"]) {
        expect([path, paths.find(path)]).toEqual([path, NO_NODE]);
      }
    }
  });

  test("find nothing below a parent that was removed, though another node has its number", () => {
    const paths = new Paths();
    const a = paths.create(ROOT, "a");
    const old = paths.create(a, "old");
    for (let round = 0; round < 3; round++) expect(paths.find("/a/old/x")).toBe(NO_NODE);
    paths.store.remove(old);
    const other = paths.create(a, "new");
    expect(other).toBe(old);
    const x = paths.create(other, "x");
    expect(paths.find("/a/old/x")).toBe(NO_NODE);
    expect(paths.find("/a/new/x")).toBe(x);
  });
});

test("a parent's path is kept from the second lookup in a row on, unless it is long", () => {
  const last = new LastParent();
  const short = Buffer.from("/p/x");
  const long = Buffer.from(`/${"q".repeat(300)}/x`);
  last.note(7, short, 0, 2);
  expect(last.above(short, 0, 4)).toBe(NO_NODE);
  last.note(7, short, 0, 2);
  expect(last.above(short, 0, 4)).toBe(7);
  expect(last.length).toBe(2);
  for (let i = 0; i < 2; i++) last.note(8, long, 0, 301);
  expect(last.above(long, 0, 303)).toBe(NO_NODE);
  expect(last.above(short, 0, 4)).toBe(7);
  last.removed(7);
  expect(last.above(short, 0, 4)).toBe(NO_NODE);
});
