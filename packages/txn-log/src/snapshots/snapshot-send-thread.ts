import { ApacheSnapshotEncoder } from "../apache/apache-snapshot-encoder.ts";
import type { ExportOptions } from "../apache/export-options.ts";
import { ChunkQueue, type WrittenPart, writeBasePart } from "../archive/base-part.ts";
import { storeErrorOf } from "../disk/database.ts";
import type { EpochRange } from "../log/txn-log.ts";
import type { SnapshotContent } from "../state/state-store.ts";
import { answerCalls } from "../threads/answer-calls.ts";
import type { CallThreadData } from "../threads/call-thread.ts";
import { loadThread } from "../threads/loading.ts";
import { lowerPriority } from "../threads/lower-priority.ts";
import { SnapshotEncoder } from "./snapshot-encoder.ts";
import type { SnapshotHeader } from "./snapshot-format.ts";

/** As servers send it to each other, or as Apache writes it. */
export type SnapshotForm = "own" | ExportOptions;

/** Reads a state file for one who wants all of it. */
export interface SnapshotSendData {
  readonly form: SnapshotForm;
  readonly stateFile: string;
  readonly epochs: readonly EpochRange[];
}

/** Chunks and parts are answered by undefined after the last. A source is read by one of them. */
export type SnapshotSendCall =
  | { readonly kind: "open" }
  | { readonly kind: "next" }
  /** Writes the next part of a base to this file. */
  | { readonly kind: "part"; readonly file: string };
export type SnapshotSendAnswer =
  | SnapshotOpened
  | { readonly kind: "chunk"; readonly bytes: Buffer<ArrayBuffer> }
  | (WrittenPart & { readonly kind: "part" })
  | undefined;

export interface SnapshotOpened {
  readonly kind: "opened";
  readonly header: SnapshotHeader;
  /** Undefined in the form of servers. */
  readonly content: SnapshotContent | undefined;
}

/** Below the threads that clients wait for, as the log's helper. */
const NICE = 5;
/** No server waits for a base. */
const BASE_NICE = 10;
/** After each chunk of a base, so that there are about 50 MB of them in a second. */
const CHUNK_REST_MS = 5;

const { data, port } = loadThread<CallThreadData<SnapshotSendData>>();
lowerPriority(NICE);
let encoder: SnapshotEncoder | ApacheSnapshotEncoder | undefined;
const chunks = new ChunkQueue(() => {
  try {
    return next();
  } catch (cause) {
    throw storeErrorOf(cause, data.stateFile);
  }
});
const sleep = new Int32Array(new SharedArrayBuffer(4));

answerCalls<SnapshotSendCall, SnapshotSendAnswer>(port, {
  file: data.stateFile,
  answer: (call) => {
    if (call.kind === "part") return part(call.file);
    if (call.kind === "next") {
      const bytes = next();
      return bytes === undefined ? undefined : { kind: "chunk", bytes };
    }
    const { form, stateFile, epochs } = data;
    if (form === "own") {
      encoder = new SnapshotEncoder(stateFile, epochs);
      return { kind: "opened", header: encoder.header, content: undefined };
    }
    const apache = new ApacheSnapshotEncoder(stateFile, { epochs, ...form });
    encoder = apache;
    return { kind: "opened", header: apache.header, content: apache.content };
  },
  transfer: (answer) => (answer?.kind === "chunk" ? [answer.bytes.buffer] : []),
  close,
});

function next(): Buffer<ArrayBuffer> | undefined {
  const chunk = encoder?.next();
  if (chunk === undefined) close();
  return chunk;
}

function part(file: string): SnapshotSendAnswer {
  lowerPriority(BASE_NICE);
  try {
    const written = writeBasePart(file, chunks, () => void Atomics.wait(sleep, 0, 0, CHUNK_REST_MS));
    return written === undefined ? undefined : { kind: "part", ...written };
  } catch (cause) {
    throw storeErrorOf(cause, file);
  }
}

function close(): void {
  encoder?.close();
  encoder = undefined;
}
