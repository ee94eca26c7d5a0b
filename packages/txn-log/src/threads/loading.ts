import { type Worker, workerData } from "node:worker_threads";
import Sqlite from "better-sqlite3";

/**
 * Each thread loads SQLite's binding for itself, and the process aborts with SIGABRT where it ends
 * during that. So a process that ends, for whatever reason, waits for its threads to have loaded
 * it:
 *
 * 1. the starter gives each thread a word, and keeps it until the thread has ended;
 * 2. the thread loads the binding first, then sets the word;
 * 3. when the process exits, the starter's thread waits for the words. That takes milliseconds; a
 *    thread that cannot start delays it by {@link WAIT_MS_MAX} at most.
 */

/** `workerData` of a thread. */
interface StartedThread<Data> {
  readonly data: Data;
  readonly word: Int32Array<SharedArrayBuffer>;
}

const WAIT_MS_MAX = 5_000;
const LOADED = 1;

const words = new Set<Int32Array<SharedArrayBuffer>>();

/** The data that a thread is started with, which reads it by {@link loadThread}. */
export function newStartedThread<Data>(data: Data): StartedThread<Data> {
  return { data, word: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) };
}

/** Lets the process wait at its end while this thread loads. */
export function awaitAtExit(worker: Worker, { word }: StartedThread<unknown>): void {
  if (words.size === 0) process.on("exit", waitForThreads);
  words.add(word);
  worker.once("exit", () => {
    words.delete(word);
    if (words.size === 0) process.off("exit", waitForThreads);
  });
}

/**
 * In the thread, before anything else: loads SQLite's binding, and gives what the thread was
 * started with.
 */
export function loadThread<Data>(): Data {
  const { data, word } = workerData as StartedThread<Data>;
  new Sqlite(":memory:").close();
  Atomics.store(word, 0, LOADED);
  Atomics.notify(word, 0);
  return data;
}

/** Threads that have not loaded SQLite's binding yet. */
export function countLoading(): number {
  let count = 0;
  for (const word of words) if (Atomics.load(word, 0) !== LOADED) count++;
  return count;
}

function waitForThreads(): void {
  const deadline = Date.now() + WAIT_MS_MAX;
  for (const word of words) Atomics.wait(word, 0, 0, Math.max(deadline - Date.now(), 0));
}
