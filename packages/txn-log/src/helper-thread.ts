import { setPriority } from "node:os";
import { workerData } from "node:worker_threads";
import { CheckpointState, ControlWord, wake } from "./append-ring.ts";
import { type Database, openDatabase, storeErrorOf } from "./database.ts";
import type { HelperAnswer, HelperRequest, HelperThreadData } from "./log-messages.ts";
import { LogReader } from "./log-reader.ts";

/**
 * The log's helper: reads entries for learners and copies the WAL into the main file, beside the writing. Its checkpoints are
 * PASSIVE only: finishing them is the log thread's part, for two connections that finish could meet a writer.
 */
const { file, control, port, log } = workerData as HelperThreadData;
const words = new Int32Array(control);

/** Below the threads that clients wait for; above the state thread, since the log waits for a checkpoint in the end. */
const NICE = 5;
setPriority(0, NICE);

let checkpointer: Database | undefined;
let reader: LogReader | undefined;

log.on("message", () => {
  try {
    checkpointer ??= openDatabase(file, { pageBytes: 8192, cacheKib: 256, journal: "wal" });
    checkpointer.pragma("wal_checkpoint(PASSIVE)");
    Atomics.store(words, ControlWord.CHECKPOINT, CheckpointState.DONE);
  } catch {
    Atomics.store(words, ControlWord.CHECKPOINT, CheckpointState.FAILED);
  }
  wake(words);
});

port.on("message", (request: HelperRequest) => {
  if (request.kind === "close") {
    reader?.close();
    checkpointer?.close();
    port.close();
    log.close();
    return;
  }
  const answered = answer(request);
  // Handed over, not copied: a copy would be made in the thread that clients wait for.
  port.postMessage(answered, answered.kind === "run" ? [answered.run.bytes.buffer as ArrayBuffer] : []);
});

function answer(request: Exclude<HelperRequest, { kind: "close" }>): HelperAnswer {
  const { id } = request;
  try {
    reader ??= new LogReader(file);
    if (request.kind === "chain") return { kind: "chain", id, chain: reader.chainAt(request.zxid) };
    return { kind: "run", id, run: reader.read(request.after, request.bytesMax) };
  } catch (cause) {
    return { kind: "failed", id, detail: storeErrorOf(cause, file).detail };
  }
}
