import { ApacheSnapshotBuilder, type ImportExpectation } from "../apache/apache-snapshot-builder.ts";
import type { TestBreak } from "../disk/test-break.ts";
import { answerCalls } from "../threads/answer-calls.ts";
import type { CallThreadData } from "../threads/call-thread.ts";
import { loadThread } from "../threads/loading.ts";
import { lowerPriority } from "../threads/lower-priority.ts";
import { SnapshotBuilder, type SnapshotExpectation } from "./snapshot-builder.ts";
import type { SnapshotHeader } from "./snapshot-format.ts";

/** Builds a state file from what a leader sends, or from what an operator has of Apache's. */
export interface SnapshotReceiveData {
  readonly file: string;
  readonly expected: SnapshotExpectation | ImportExpectation;
  readonly testBreak: TestBreak | undefined;
}

export type SnapshotReceiveCall =
  | { readonly kind: "open" | "finish" }
  | { readonly kind: "add"; readonly chunk: Uint8Array<ArrayBuffer> };
/** "finish" is answered by what the snapshot said of itself. */
export type SnapshotReceiveAnswer = SnapshotHeader | undefined;

const NICE = 5;

const { data, port } = loadThread<CallThreadData<SnapshotReceiveData>>();
lowerPriority(NICE);
let builder: SnapshotBuilder | ApacheSnapshotBuilder | undefined;
let failure: unknown;

answerCalls<SnapshotReceiveCall, SnapshotReceiveAnswer>(port, {
  file: data.file,
  answer: (call) => {
    // What failed once stays failed: chunks in transit may continue a state that is gone.
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
      builder = open(data);
      return undefined;
    case "add": {
      const { buffer, byteOffset, length } = call.chunk;
      builder?.add(Buffer.from(buffer, byteOffset, length));
      // Given back at once: the collector, which sees no pressure in its own heap, would let many
      // of them pile up.
      buffer.transfer(0);
      return undefined;
    }
    case "finish":
      return builder?.finish();
  }
}

function open({ file, expected, testBreak }: SnapshotReceiveData): SnapshotBuilder | ApacheSnapshotBuilder {
  return "epochMin" in expected
    ? new ApacheSnapshotBuilder(file, expected, testBreak)
    : new SnapshotBuilder(file, expected, testBreak);
}
