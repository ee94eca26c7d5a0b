import { sliceOf } from "@zooid/model";
import { expect, test } from "vitest";
import { NO_NODE, NodeStore, ROOT } from "./node-store.ts";

test("a name that is longer than any is not looked at", () => {
  const store = new NodeStore({ k0: 1, k1: 7 });
  store.createRoot(1);
  const { bytes, start, end } = sliceOf("short");
  store.create(ROOT, bytes, start, end, 2);
  let readCount = 0;
  const long = new Proxy(Buffer.alloc(1000, "x"), {
    get(target, property): unknown {
      readCount++;
      return Reflect.get(target, property, target);
    },
  });
  expect(store.child(ROOT, long, 0, 1000)).toBe(NO_NODE);
  expect(readCount).toBe(0);
  expect(store.child(ROOT, bytes, start, end)).not.toBe(NO_NODE);
});
