import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { offAbort, onAbort } from "./abort-listeners.ts";

test("all who wait for one signal share one listener of it, and are called in order", () => {
  const { signal, abort } = controller();
  const told: number[] = [];
  const gives = [1, 2, 3, 4].map((i) => () => told.push(i));
  for (const give of gives) onAbort(signal, give);
  offAbort(signal, gives[1] ?? (() => {}));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  abort();
  expect(told).toEqual([1, 3, 4]);
});

test("the last one to leave takes the listener along, and the next one to come brings another", () => {
  const { signal, abort } = controller();
  const told: string[] = [];
  const first = (): void => {
    told.push("first");
  };
  onAbort(signal, first);
  offAbort(signal, first);
  offAbort(signal, first);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  onAbort(signal, () => told.push("second"));
  abort();
  expect(told).toEqual(["second"]);
});

test("who is called may make the others leave", () => {
  const { signal, abort } = controller();
  const told: string[] = [];
  const second = (): void => {
    told.push("second");
  };
  onAbort(signal, () => {
    told.push("first");
    offAbort(signal, second);
  });
  onAbort(signal, second);
  onAbort(signal, () => told.push("third"));
  abort();
  expect(told).toEqual(["first", "third"]);
});

function controller(): { readonly signal: AbortSignal; abort(): void } {
  const made = new AbortController();
  return { signal: made.signal, abort: () => made.abort() };
}
