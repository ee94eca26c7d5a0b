import { expect, test } from "vitest";
import { DataPages } from "./data-pages.ts";

test("compaction may be interrupted by every kind of change and moves nothing to the wrong owner", () => {
  const refs = new Map<number, number>();
  const values = new Map<number, Buffer>();
  const pages = new DataPages((owner, ref) => refs.set(owner, ref));
  let random = 12345;
  const next = (below: number) => {
    random = (Math.imul(random, 1103515245) + 12345) & 0x7fff_ffff;
    return random % below;
  };
  const someValue = (owner: number) => Buffer.alloc(next(20) === 0 ? next(40_000) : next(300), owner & 0xff);

  for (let i = 0; i < 60_000; i++) {
    const owner = 1 + next(3000);
    const ref = refs.get(owner);
    const value = someValue(owner);
    if (ref === undefined) {
      refs.set(owner, pages.put(owner, value, 0, value.length));
      values.set(owner, value);
    } else if (next(3) === 0) {
      refs.set(owner, pages.replace(ref, value, 0, value.length));
      values.set(owner, value);
    } else {
      pages.free(ref);
      refs.delete(owner);
      values.delete(owner);
    }
    if (next(10) === 0) pages.compact(next(50));
  }

  for (const [owner, ref] of refs) {
    const value = values.get(owner) ?? Buffer.alloc(0);
    const start = pages.start(ref);
    expect(
      pages
        .buffer(ref)
        .subarray(start, start + value.length)
        .equals(value),
    ).toBe(true);
    expect(pages.slotEnd(ref) - start).toBeGreaterThanOrEqual(value.length);
    pages.free(ref);
  }
  expect(pages.pageBytes).toBe(0);
});
