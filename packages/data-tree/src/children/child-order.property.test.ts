import { type ByteSlice, setSlice, sliceOf } from "@zooid/model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ChildOrder } from "./child-order.ts";

/** Names by their index, some of them prefixes of others, with several bytes a letter. */
class Names {
  readonly all: string[] = [];
  readonly show = (node: number, into: ByteSlice): void => {
    const { bytes, start, end } = sliceOf(this.all[node]);
    setSlice(into, bytes, start, end);
  };
  order(): ChildOrder {
    return new ChildOrder(this.show);
  }
  add(name: string): number {
    return this.all.push(name) - 1;
  }
}

function inBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Everything of an order, in pages of a size. */
function pages(order: ChildOrder, names: Names, size: number): string[][] {
  const found: string[][] = [];
  const nodes: number[] = [];
  for (let after = "", isLast = false; !isLast; after = names.all[nodes[nodes.length - 1]] ?? after) {
    nodes.length = 0;
    isLast = order.takeAfter(sliceOf(after), size, nodes);
    found.push(nodes.map((node) => names.all[node]));
  }
  return found;
}

const part = fc.constantFrom("a", "b", "item-", "0", "9", "ß", "\u{fffd}", "-");
const name = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));

test("names are inserted and removed in any order, and come out in the order of their bytes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, fc.boolean()), { maxLength: 300 }),
      fc.integer({ min: 1, max: 7 }),
      (steps, size) => {
        const names = new Names();
        const order = names.order();
        const present = new Map<string, number>();
        for (const [one, isAdded] of steps) {
          if (isAdded === present.has(one)) continue;
          if (isAdded) {
            const node = names.add(one);
            present.set(one, node);
            order.insert(node, sliceOf(one));
          } else {
            order.remove(sliceOf(one));
            present.delete(one);
          }
        }
        expect(order.count).toBe(present.size);
        expect(pages(order, names, size).flat()).toEqual([...present.keys()].sort(inBytes));
      },
    ),
  );
});

test.each([
  ["ascending", (i: number) => `n-${String(i).padStart(6, "0")}`],
  ["descending", (i: number) => `n-${String(99_999 - i).padStart(6, "0")}`],
  ["scattered", (i: number) => `n-${(i * 7919) % 10_007}`],
  ["with long common prefixes", (i: number) => `${"p".repeat(200)}${(i * 31) % 5_003}`],
])("five thousand names that come %s fill many leaves, and leave them again", (_, nameOf) => {
  const names = new Names();
  const order = names.order();
  const all = new Set<string>();
  for (let i = 0; i < 5_000; i++) {
    const one = nameOf(i);
    if (all.has(one)) continue;
    all.add(one);
    order.insert(names.add(one), sliceOf(one));
  }
  const filled = names.order();
  filled.fill(names.all.map((_name, i) => i));
  for (const each of [order, filled]) {
    const seen = pages(each, names, 100);
    expect(seen.flat()).toEqual([...all].sort(inBytes));
    expect(seen.every((page, i) => page.length === 100 || i === seen.length - 1)).toBe(true);
    for (const one of [...all].filter((_one, i) => i % 3 !== 0)) each.remove(sliceOf(one));
    expect(pages(each, names, 1_000).flat()).toEqual([...all].filter((_one, i) => i % 3 === 0).sort(inBytes));
    for (const one of [...all].filter((_one, i) => i % 3 === 0)) each.remove(sliceOf(one));
    expect([each.count, pages(each, names, 10)]).toEqual([0, [[]]]);
  }
});

test("a page begins behind a name that is not there any more", () => {
  const names = new Names();
  const order = names.order();
  for (const one of ["a", "b", "d"]) order.insert(names.add(one), sliceOf(one));
  const nodes: number[] = [];
  expect(order.takeAfter(sliceOf("c"), 5, nodes)).toBe(true);
  expect(nodes.map((node) => names.all[node])).toEqual(["d"]);
});
