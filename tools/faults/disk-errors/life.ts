/**
 * One life of a store, in a process of its own: opens it, appends, folds, rolls and purges, and writes
 * what was reported as durable to its output. Ends with 0 when all is done, 20 when the store failed, 21
 * when it could not be opened.
 */
import { writeSync } from "node:fs";
import { openStore, type Store } from "../../../packages/txn-log/src/sqlite.ts";
import { createNodes } from "../../../packages/txn-log/src/testing/state-history.ts";

const [directory = ""] = process.argv.slice(2);
const BATCHES = 40;
const NODES = 25;
const DATA_BYTES = 200;
const STDOUT = 1;

let store: Store;
try {
  store = await openStore({
    ...{ directory, sid: 1, segmentBytes: 64 * 1024, logKeepBytes: 64 * 1024, lagMarkBytes: 32 * 1024 },
    handler: {
      appended: ({ zxid }) => writeSync(STDOUT, `durable ${zxid}\n`),
      roomChanged: () => {},
      failed: (error) => {
        console.error(error.message);
        process.exit(20);
      },
      warned: () => {},
    },
  });
} catch (error) {
  console.error(String(error));
  process.exit(21);
}
const { promise } = store.log.durable;
await store.log.setPromise({ epoch: promise.epoch + 1, sid: 1, incarnation: 1 });
writeSync(STDOUT, `promised ${promise.epoch + 1}\n`);
for (let batch = 0; batch < BATCHES; batch++) {
  await createNodes(store, batch * NODES + 1, (batch + 1) * NODES, DATA_BYTES);
}
await store.state.flush();
await store[Symbol.asyncDispose]();
