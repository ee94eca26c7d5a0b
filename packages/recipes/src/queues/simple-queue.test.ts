import type { Client } from "@zooid/client";
import { expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { failure, type Stage, tree } from "../testing/stage.ts";
import { SimpleQueue } from "./simple-queue.ts";

const PATH = "/queues/simple";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

const text = (data: Uint8Array | null): string | null => (data === null ? null : Buffer.from(data).toString());

test("items come out first in, first out, on Curator's nodes", async () => {
  const [mine, theirs] = [new SimpleQueue(a, PATH), new SimpleQueue(b, PATH)];
  expect([await mine.peek(), await mine.poll()]).toEqual([null, null]);
  for (const item of ["one", "two", ""]) await mine.offer(item);
  for (const name of ["qn-note", "something-else"]) await a.create(`${PATH}/${name}`);
  expect(await tree(a, PATH)).toEqual(["qn-0000000000", "qn-0000000001", "qn-0000000002", "qn-note", "something-else"]);
  expect([text(await theirs.peek()), text(await theirs.poll()), text(await theirs.take())]).toEqual([
    "one",
    "one",
    "two",
  ]);
  expect([text(await mine.take()), await mine.poll()]).toEqual(["", null]);
});

test("a take from an empty queue waits, over lost connections and sessions, and leaves no watch behind", async () => {
  const { zk, relay } = await stage.relayed();
  const taking = new SimpleQueue(zk, PATH).take();
  await zk.sync();
  await stage.expire(zk);
  relay.cut();
  await new SimpleQueue(a, PATH).offer("at last");
  expect(text(await taking)).toBe("at last");
  expect(isRecipeError(await failure(new SimpleQueue(zk, PATH).take({ timeoutMs: 20 })), "LOCK_TIMEOUT")).toBe(true);
  expect(zk.watchCount).toBe(0);
});

test("each item goes to one taker, and none is lost", async () => {
  const taken: string[] = [];
  const takers = Array.from({ length: 6 }, async (_, i) => {
    const queue = new SimpleQueue(i % 2 === 0 ? a : b, PATH);
    for (let count = 0; count < 20; count++) taken.push(text(await queue.take()) ?? "");
  });
  const items = Array.from({ length: 120 }, (_, i) => String(i));
  await Promise.all([...items.map((item) => new SimpleQueue(a, PATH).offer(item)), ...takers]);
  expect(taken.toSorted((x, y) => Number(x) - Number(y))).toEqual(items);
});

test("a poll waits for its time limit, and takes what comes until then", async () => {
  const queue = new SimpleQueue(a, PATH);
  expect(await queue.poll({ timeoutMs: 5 })).toBeNull();
  const polling = queue.poll({ timeoutMs: 60_000 });
  await a.sync();
  await new SimpleQueue(b, PATH).offer("come");
  expect(text(await polling)).toBe("come");
  const over = new AbortController();
  const aborted = queue.poll({ timeoutMs: 60_000, signal: over.signal });
  over.abort(new Error("enough"));
  expect(await failure(aborted)).toEqual(new Error("enough"));
  expect(a.watchCount).toBe(0);
});
