import { setPriority } from "node:os";
import { workerData } from "node:worker_threads";
import { answerCalls } from "./answer-calls.ts";
import type { CallThreadData } from "./call-thread.ts";
import { SnapshotEncoder } from "./snapshot-encoder.ts";
import type { SnapshotHeader } from "./snapshot-format.ts";
import type { EpochRange } from "./txn-log.ts";

/** Reads a state file for one learner. */
export interface SnapshotSendData {
  readonly stateFile: string;
  readonly epochs: readonly EpochRange[];
}

/** "next" is answered by a chunk, or by undefined after the last. */
export type SnapshotSendCall = "open" | "next";
export type SnapshotSendAnswer = SnapshotHeader | Buffer<ArrayBuffer> | undefined;

/** Below the threads that clients wait for, as the log's helper. */
const NICE = 5;

const { data, port } = workerData as CallThreadData<SnapshotSendData>;
setPriority(0, NICE);
let encoder: SnapshotEncoder | undefined;

answerCalls<SnapshotSendCall, SnapshotSendAnswer>(port, {
  file: data.stateFile,
  answer: (call) => {
    if (call === "next") return next();
    encoder = new SnapshotEncoder(data.stateFile, data.epochs);
    return encoder.header;
  },
  transfer: (answer) => (answer instanceof Uint8Array ? [answer.buffer] : []),
  close,
});

function next(): Buffer<ArrayBuffer> | undefined {
  const chunk = encoder?.next();
  if (chunk === undefined) close();
  return chunk;
}

function close(): void {
  encoder?.close();
  encoder = undefined;
}
