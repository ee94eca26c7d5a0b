import { storeErrorOf } from "../disk/database.ts";
import { lockAlone } from "../segments/readers-lock.ts";
import { removeSegment } from "../segments/segment-directory.ts";
import type { SegmentName } from "../segments/segment-name.ts";
import { makeSpare, recycleSegment } from "../segments/spare-segment.ts";
import { loadThread } from "../threads/loading.ts";
import { lowerPriority } from "../threads/lower-priority.ts";
import { ControlWord, HelperState, wake } from "./append-ring.ts";
import type { HelperAnswer, HelperRequest, HelperTask, HelperThreadData } from "./log-messages.ts";
import { LogReader } from "./log-reader.ts";

/**
 * The log's helper: reads entries for learners, keeps the next segment ready and removes the files
 * of old ones, beside the writing.
 */
const { directory, leases, control, port, log } = loadThread<HelperThreadData>();
const words = new Int32Array(control);

/**
 * Below the threads that clients wait for; above the state thread, since the log waits for a
 * segment in the end.
 */
const NICE = 5;
lowerPriority(NICE);

let reader: LogReader | undefined;

log.on("message", (task: HelperTask) => {
  try {
    perform(task);
    Atomics.store(words, ControlWord.HELPER, HelperState.IDLE);
  } catch {
    // What was not removed is removed at the next start; a spare that was not made is tried again.
    Atomics.store(words, ControlWord.HELPER, HelperState.FAILED);
  }
  wake(words);
});

function perform({ remove, spare }: HelperTask): void {
  // Room first, where there is none.
  for (const name of remove) removeSegment(directory, name);
  if (spare === undefined) return;
  if (spare.recycle !== undefined && recycled(spare.recycle, spare.pageBytes)) return;
  makeSpare(directory, spare);
}

/** Reuses a segment, or removes it while another process may read it. */
function recycled(segment: SegmentName, pageBytes: number): boolean {
  using alone = lockAlone(directory);
  if (alone === undefined) removeSegment(directory, segment);
  else recycleSegment(directory, segment, pageBytes);
  return alone !== undefined;
}

port.on("message", (request: HelperRequest) => {
  if (request.kind === "close") {
    reader?.[Symbol.dispose]();
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
    reader ??= new LogReader(directory, leases);
    if (request.kind === "chain") return { kind: "chain", id, chain: reader.chainAt(request.zxid) };
    return { kind: "run", id, run: reader.read(request.after, request.bytesMax) };
  } catch (cause) {
    return { kind: "failed", id, detail: storeErrorOf(cause, directory).detail };
  }
}
