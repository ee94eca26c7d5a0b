/**
 * One life of a store, in a process of its own: opens it, appends, checkpoints, rolls and purges,
 * sends its state to itself, installs histories with and without a snapshot, cuts, and writes what
 * was reported as durable to its output. With "killed" it ends itself with SIGKILL instead of
 * closing the store; with "start" it opens a store that is there, replays, and makes a promise.
 * Ends with 0 when all is done, 20 when the store failed, 21 when it could not be opened.
 */

import { writeSync } from "node:fs";
import { composeZxid, FRAME_HEADER_BYTES, type Zxid } from "@zooid/model";
import { putEntry } from "@zooid/txn-log";
import { StoreError } from "@zooid/txn-log/internal/store/store-error";
import { openStore, type Store } from "@zooid/txn-log/sqlite";
import { promised } from "@zooid/txn-log/testing/promised-log";
import { createNodes } from "@zooid/txn-log/testing/state-history";
import { receive, sent } from "@zooid/txn-log/testing/transfers";

const [directory = "", deeds = "all"] = process.argv.slice(2);
const BATCHES = 40;
const NODES = 25;
const DATA_BYTES = 200;
const STDOUT = 1;
/**
 * Entries of the later epochs: checks that touch no node, since a checkpoint decodes what is
 * committed.
 */
const STAGED = 6;
const CUT = 2;

const store = await opened();
const log = promised(store.log);
if (deeds === "start") await replayed();
else await everything();
if (deeds === "killed") process.kill(process.pid, "SIGKILL");
await store[Symbol.asyncDispose]();

async function everything(): Promise<void> {
  await promiseNext();
  for (let batch = 0; batch < BATCHES; batch++) {
    await createNodes(store, batch * NODES + 1, (batch + 1) * NODES, DATA_BYTES);
  }
  await store.state.flush();
  await replaceState();
  await installHistory();
  await cutBack();
}

async function replayed(): Promise<void> {
  store.replay(store.loadState({ session: () => {}, node: () => {} }).applied, () => {});
  await promiseNext();
  await store.state.flush();
}

/** Opens the store as a server does: while the disk has no room for that, it waits. */
async function opened(): Promise<Store> {
  for (;;) {
    try {
      return await openStore({
        directory,
        sid: 1,
        segmentBytes: 64 * 1024,
        logKeepBytes: 64 * 1024,
        checkpointBytes: 32 * 1024,
        handler: {
          appended: ({ zxid }) => report("durable", zxid),
          roomChanged: () => {},
          failed: (error) => {
            console.error(error.message);
            process.exit(20);
          },
          warned: () => {},
        },
      });
    } catch (error) {
      if (error instanceof StoreError && error.code === "DISK_FULL") continue;
      console.error(String(error));
      process.exit(21);
    }
  }
}

/** Receives a copy of the state, installs it with a snapshot, and adopts it. */
async function replaceState(): Promise<void> {
  const { source, chunks } = await sent(store);
  let snapshot: Awaited<ReturnType<typeof receive>>;
  try {
    snapshot = await receive(store, source, chunks);
  } catch (error) {
    // A disk that cannot take the copy leaves the old state in force.
    console.error(String(error));
    return;
  }
  const epoch = await promiseNext();
  await log.beginStage(source.position);
  await log.installHistory({ epoch, tail: source.position.zxid, committed: source.position.zxid, snapshot });
  store.adoptState();
}

/** Stages entries of a new epoch, and installs them behind what is there. */
async function installHistory(): Promise<void> {
  const { tail } = log.durable;
  const epoch = await promiseNext();
  const last = composeZxid(epoch, STAGED);
  await log.beginStage(tail);
  const bytes = entriesOf(epoch);
  await log.stage(bytes, 0, bytes.length);
  await log.installHistory({ epoch, tail: last, committed: tail.zxid });
  report("durable", last);
}

/** Drops the last entries, which nothing calls committed. */
async function cutBack(): Promise<void> {
  const { zxid } = log.durable.tail;
  // Before it begins: from here on the log may end at either place.
  report("cutting", zxid - CUT);
  await log.cut((zxid - CUT) as Zxid);
  report("cut", zxid - CUT);
}

async function promiseNext(): Promise<number> {
  const epoch = log.durable.promise.epoch + 1;
  await log.setPromise({ epoch, sid: 1, incarnation: 1 });
  report("promised", epoch);
  return epoch;
}

function entriesOf(epoch: number): Uint8Array {
  const record = new TextEncoder().encode("staged");
  const bytes = new Uint8Array(STAGED * (FRAME_HEADER_BYTES + record.length));
  let end = 0;
  for (let counter = 1; counter <= STAGED; counter++) end = putEntry(bytes, end, composeZxid(epoch, counter), record);
  return bytes;
}

function report(word: string, value: number): void {
  writeSync(STDOUT, `${word} ${value}\n`);
}
