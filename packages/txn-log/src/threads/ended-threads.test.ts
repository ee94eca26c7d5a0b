import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { ZXID_NONE } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { promised } from "../promised-log.ts";
import { openStore } from "../sqlite.ts";
import { StoreError } from "../store-error.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { batchOf, RecordingHandler, range } from "../txn-log-contract.ts";

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

/** The threads that a call starts, in the order in which it starts them. */
async function threadsOf<T>(call: () => Promise<T>): Promise<[T, readonly Worker[]]> {
  const threads: Worker[] = [];
  const note = (message: unknown): void => void threads.push((message as { readonly worker: Worker }).worker);
  subscribe("worker_threads", note);
  try {
    return [await call(), threads];
  } finally {
    unsubscribe("worker_threads", note);
  }
}

test.each([0, 1, 2])("thread %i of a store that ends without an error is a failure of the store", async (which) => {
  const { promise: failed, resolve } = Promise.withResolvers<Error>();
  const handler = new RecordingHandler();
  handler.failed = resolve;
  const [store, threads] = await threadsOf(async () => {
    const opened = await openStore({ directory: join(place.path, "data"), sid: 1, handler, takeEpoch: true });
    // The first question of a reader starts the log's helper.
    await promised(opened.log).chainAt(ZXID_NONE);
    return opened;
  });
  expect(threads).toHaveLength(3);
  await threads[which]?.terminate();
  const error = await failed;
  expect(error).toBeInstanceOf(StoreError);
  expect(error.message).toMatch(/ended with status/);
  // Nothing waits for ever, and closing comes to an end.
  promised(store.log).append(batchOf(range(1, 2)));
  let isCalledBack = false;
  store.log.setConfigs({}, () => {
    isCalledBack = true;
  });
  await store[Symbol.asyncDispose]();
  // The state's thread is not the log's.
  expect(isCalledBack).toBe(which === 1);
});
