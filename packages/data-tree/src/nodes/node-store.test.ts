import { sliceOf } from "@zooid/model";
import { expect, test } from "vitest";
import { NO_NODE, ROOT } from "./node-row.ts";
import { NodeStore } from "./node-store.ts";

/** Bytes, and how many of them were read. */
function watched(text: string): { readonly bytes: Buffer; readonly readCount: () => number } {
  let readCount = 0;
  const bytes = new Proxy(Buffer.from(text), {
    get(target, property): unknown {
      readCount++;
      return Reflect.get(target, property, target);
    },
  });
  return { bytes, readCount: () => readCount };
}

test("a name that is longer than any is not looked at", () => {
  const store = new NodeStore({ k0: 1, k1: 7 });
  store.createRoot(1);
  const { bytes, start, end } = sliceOf("short");
  store.create(ROOT, bytes, start, end, 2);
  const { bytes: long, readCount } = watched("x".repeat(1000));
  expect(store.child(ROOT, long, 0, 1000)).toBe(NO_NODE);
  expect(readCount()).toBe(0);
  expect(store.child(ROOT, bytes, start, end)).not.toBe(NO_NODE);
});

test("a path is read no further than to the first name that is longer than any", () => {
  const store = new NodeStore({ k0: 1, k1: 7 });
  store.createRoot(1);
  const name = sliceOf("short");
  const short = store.create(ROOT, name.bytes, name.start, name.end, 2);
  store.create(short, name.bytes, name.start, name.end, 3);
  for (const text of [`/${"x".repeat(1000)}`, `/short/${"x".repeat(1000)}`]) {
    const { bytes, readCount } = watched(text);
    expect(store.find(bytes, 0, bytes.length)).toBe(NO_NODE);
    expect(readCount()).toBeLessThan(50);
  }
  const { bytes } = sliceOf("/short/short");
  expect(store.find(bytes, 0, 12)).not.toBe(NO_NODE);
});
