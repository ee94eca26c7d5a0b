import { setPriority } from "node:os";
import { workerData } from "node:worker_threads";
import { answerCalls } from "./answer-calls.ts";
import type { CallThreadData } from "./call-thread.ts";
import { SnapshotBuilder, type SnapshotExpectation } from "./snapshot-builder.ts";
import type { SnapshotHeader } from "./snapshot-format.ts";
import type { TestBreak } from "./test-break.ts";

/** Builds a state file from what a leader sends. */
export interface SnapshotReceiveData {
  readonly file: string;
  readonly expected: SnapshotExpectation;
  readonly testBreak: TestBreak | undefined;
}

export type SnapshotReceiveCall =
  | { readonly kind: "open" | "finish" }
  | { readonly kind: "add"; readonly chunk: Uint8Array<ArrayBuffer> };
/** "finish" is answered by what the snapshot said of itself. */
export type SnapshotReceiveAnswer = SnapshotHeader | undefined;

const NICE = 5;

const { data, port } = workerData as CallThreadData<SnapshotReceiveData>;
setPriority(0, NICE);
let builder: SnapshotBuilder | undefined;
let failure: unknown;

answerCalls<SnapshotReceiveCall, SnapshotReceiveAnswer>(port, {
  file: data.file,
  answer: (call) => {
    // What failed once stays failed: chunks may be on their way that continue what is no longer there.
    if (failure !== undefined) throw failure;
    try {
      return act(call);
    } catch (cause) {
      failure = cause;
      builder?.abandon();
      throw cause;
    }
  },
  transfer: () => [],
  close: () => builder?.close(),
});

function act(call: SnapshotReceiveCall): SnapshotReceiveAnswer {
  switch (call.kind) {
    case "open":
      builder = new SnapshotBuilder(data.file, data.expected, data.testBreak);
      return undefined;
    case "add": {
      const { buffer, byteOffset, length } = call.chunk;
      builder?.add(Buffer.from(buffer, byteOffset, length));
      // Given back at once: the collector, which sees no pressure in its own heap, would let many of them pile up.
      buffer.transfer(0);
      return undefined;
    }
    case "finish":
      return builder?.finish();
  }
}
