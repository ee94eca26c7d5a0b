import { ApacheSnapshotEncoder } from "../apache/apache-snapshot-encoder.ts";
import type { SnapshotContent } from "../state-store.ts";
import { answerCalls } from "../threads/answer-calls.ts";
import type { CallThreadData } from "../threads/call-thread.ts";
import { loadThread } from "../threads/loading.ts";
import { lowerPriority } from "../threads/lower-priority.ts";
import type { EpochRange } from "../txn-log.ts";
import { SnapshotEncoder } from "./snapshot-encoder.ts";
import type { SnapshotHeader } from "./snapshot-format.ts";

/** As servers send it to each other, or as Apache writes it, with or without its sessions. */
export type SnapshotForm = "own" | "apache" | "apache-without-sessions";

/** Reads a state file for one who wants all of it. */
export interface SnapshotSendData {
  readonly form: SnapshotForm;
  readonly stateFile: string;
  readonly epochs: readonly EpochRange[];
}

/** "next" is answered by a chunk, or by undefined after the last. */
export type SnapshotSendCall = "open" | "next";
export type SnapshotSendAnswer = SnapshotOpened | Buffer<ArrayBuffer> | undefined;

export interface SnapshotOpened {
  readonly header: SnapshotHeader;
  /** Undefined in the form of servers. */
  readonly content: SnapshotContent | undefined;
}

/** Below the threads that clients wait for, as the log's helper. */
const NICE = 5;

const { data, port } = loadThread<CallThreadData<SnapshotSendData>>();
lowerPriority(NICE);
let encoder: SnapshotEncoder | ApacheSnapshotEncoder | undefined;

answerCalls<SnapshotSendCall, SnapshotSendAnswer>(port, {
  file: data.stateFile,
  answer: (call) => {
    if (call === "next") return next();
    const { form, stateFile, epochs } = data;
    if (form === "own") {
      encoder = new SnapshotEncoder(stateFile, epochs);
      return { header: encoder.header, content: undefined };
    }
    const apache = new ApacheSnapshotEncoder(stateFile, { epochs, hasSessions: form === "apache" });
    encoder = apache;
    return { header: apache.header, content: apache.content };
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
