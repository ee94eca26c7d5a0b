import type { Client } from "@zooid/client";
import { expect, test } from "vitest";
import { RecipeScans, type Scan } from "./recipe-scans.ts";

const CLIENT = {} as Client;
const NEVER = new AbortController().signal;

/** Scans that take a given time, of a clock that the test moves. */
function stage(tookMs: number) {
  let nowMs = 0;
  let count = 0;
  const scan: Scan = () => {
    count++;
    nowMs += tookMs;
    return Promise.resolve({ recipes: [], waits: [], cycles: [], scannedCount: count, isCut: false });
  };
  const scans = new RecipeScans(scan, () => nowMs);
  return {
    read: (path = "/", client = CLIENT) => scans.read(client, path, NEVER),
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("browsers share a scan, and it is repeated after two seconds", async () => {
  const { read, wait } = stage(10);
  const [first, second] = await Promise.all([read(), read()]);
  expect([first.scannedCount, second.scannedCount, first.intervalMs]).toEqual([1, 1, 2_000]);
  wait(1_000);
  expect((await read()).scannedCount).toBe(1);
  wait(1_000);
  expect((await read()).scannedCount).toBe(2);
});

test("a scan that takes long is repeated less often", async () => {
  const { read, wait } = stage(1_500);
  expect(await read()).toMatchObject({ scannedCount: 1, intervalMs: 30_000 });
  wait(29_000);
  expect((await read()).scannedCount).toBe(1);
  wait(1_000);
  expect((await read()).scannedCount).toBe(2);
});

test("each user and each path have scans of their own", async () => {
  const { read } = stage(10);
  await read("/a");
  expect((await read("/b")).scannedCount).toBe(2);
  expect((await read("/a", {} as Client)).scannedCount).toBe(3);
});

test("of more than twenty paths of a user the oldest scan is forgotten, and one that was repeated is not the oldest", async () => {
  const { read, wait } = stage(0);
  for (let i = 0; i < 20; i++) await read(`/${i}`);
  wait(2_000);
  expect((await read("/0")).scannedCount).toBe(21);
  expect((await read("/20")).scannedCount).toBe(22);
  expect((await read("/0")).scannedCount).toBe(21);
  expect((await read("/20", {} as Client)).scannedCount).toBe(23);
  expect((await read("/20")).scannedCount).toBe(22);
});

test("a scan that failed is not kept", async () => {
  let count = 0;
  const scans = new RecipeScans(() => (++count === 1 ? Promise.reject(new Error("no connection")) : stageResult()));
  await expect(scans.read(CLIENT, "/", NEVER)).rejects.toThrow();
  expect((await scans.read(CLIENT, "/", NEVER)).scannedCount).toBe(7);
});

function stageResult() {
  return Promise.resolve({ recipes: [], waits: [], cycles: [], scannedCount: 7, isCut: false });
}
