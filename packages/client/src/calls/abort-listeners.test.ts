import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { offAbort, onAbort } from "./abort-listeners.ts";

test("all callbacks of one signal share one listener of it, and are called in order", () => {
  const { signal, abort } = controller();
  const received: number[] = [];
  const gives = [1, 2, 3, 4].map((i) => () => received.push(i));
  for (const give of gives) onAbort(signal, give);
  offAbort(signal, gives[1] ?? (() => {}));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  abort();
  expect(received).toEqual([1, 3, 4]);
});

test("removing the last callback removes the listener, and the next one adds another", () => {
  const { signal, abort } = controller();
  const received: string[] = [];
  const first = (): void => {
    received.push("first");
  };
  onAbort(signal, first);
  offAbort(signal, first);
  offAbort(signal, first);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  onAbort(signal, () => received.push("second"));
  abort();
  expect(received).toEqual(["second"]);
});

test("a callback may remove the others", () => {
  const { signal, abort } = controller();
  const received: string[] = [];
  const second = (): void => {
    received.push("second");
  };
  onAbort(signal, () => {
    received.push("first");
    offAbort(signal, second);
  });
  onAbort(signal, second);
  onAbort(signal, () => received.push("third"));
  abort();
  expect(received).toEqual(["first", "third"]);
});

function controller(): { readonly signal: AbortSignal; abort(): void } {
  const made = new AbortController();
  return { signal: made.signal, abort: () => made.abort() };
}
