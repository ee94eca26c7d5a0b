import { EventEmitter, once } from "node:events";
import { expect, test } from "vitest";

test("once", async () => {
  await once(new EventEmitter(), "close");
});

test("poll", async () => {
  let nodes = 0;
  await expect.poll(() => Math.min(++nodes, 3)).toBe(4);
});

test("promise", async () => {
  await Promise.withResolvers<void>().promise;
});
