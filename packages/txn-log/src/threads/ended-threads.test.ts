import { join } from "node:path";
import { ZXID_NONE } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "../sqlite.ts";
import { StoreError } from "../store/store-error.ts";
import { promised } from "../testing/promised-log.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { threadsOf } from "../testing/threads-of.ts";
import { batchOf, RecordingHandler, range } from "../testing/txn-log-contract.ts";

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

test.each([0, 1, 2])("thread %i of a store that ends without an error is a failure of the store", async (which) => {
  const { promise: failed, resolve } = Promise.withResolvers<Error>();
  const handler = new RecordingHandler();
  handler.failed = resolve;
  const [store, threads] = await threadsOf(async () => {
    const opened = await openStore({ directory: join(place.path, "data"), sid: 1, handler, takeEpoch: true });
    // The first flush starts the state's thread, and the first question of a reader the log's
    // helper.
    await opened.state.flush();
    await promised(opened.log).chainAt(ZXID_NONE);
    return opened;
  });
  expect(threads).toHaveLength(3);
  await threads[which]?.terminate();
  const error = await failed;
  expect(error).toBeInstanceOf(StoreError);
  expect(error.message).toMatch(/ended with status/);
  // No call blocks, and closing comes to an end.
  promised(store.log).append(batchOf(range(1, 2)));
  let isCalledBack = false;
  store.log.setConfigs({}, () => {
    isCalledBack = true;
  });
  await store[Symbol.asyncDispose]();
  // The state's thread is not the log's.
  expect(isCalledBack).toBe(which === 1);
});
