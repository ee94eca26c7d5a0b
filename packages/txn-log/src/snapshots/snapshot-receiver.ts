import { rm } from "node:fs/promises";
import type { ReceivedSnapshot, SnapshotReceiver } from "../state/state-store.ts";
import { StoreError } from "../store/store-error.ts";
import { CallThread } from "../threads/call-thread.ts";
import type { SnapshotReceiveAnswer, SnapshotReceiveCall, SnapshotReceiveData } from "./snapshot-receive-thread.ts";

export interface SnapshotReceiverParts extends SnapshotReceiveData {
  /** The file's name in its directory. */
  readonly name: string;
  /** Whether an install has named the file, or is about to. */
  readonly isNamed: () => boolean;
  /** It was abandoned. Called once. */
  readonly abandoned: () => void;
}

type ReceiveThread = CallThread<SnapshotReceiveCall, SnapshotReceiveAnswer>;

export async function openSnapshotReceiver(parts: SnapshotReceiverParts): Promise<ThreadSnapshotReceiver> {
  const { file, expected, testBreak } = parts;
  const data: SnapshotReceiveData = { file, expected, testBreak };
  const thread: ReceiveThread = new CallThread("snapshots/snapshot-receive-thread", data);
  try {
    await thread.call({ kind: "open" });
    return new ThreadSnapshotReceiver(parts, thread);
  } catch (cause) {
    await thread.close(CLOSED);
    throw cause;
  }
}

/** A snapshot built by a thread of its own. */
export class ThreadSnapshotReceiver implements SnapshotReceiver {
  readonly #parts: SnapshotReceiverParts;
  readonly #thread: ReceiveThread;
  #abandoning: Promise<void> | undefined;

  constructor(parts: SnapshotReceiverParts, thread: ReceiveThread) {
    this.#parts = parts;
    this.#thread = thread;
  }

  async add(source: Uint8Array): Promise<void> {
    // Memory of its own, for it is handed over.
    const chunk = new Uint8Array(source.length);
    chunk.set(source);
    await this.#call({ kind: "add", chunk }, [chunk.buffer]);
  }

  async finish(): Promise<ReceivedSnapshot> {
    const header = await this.#call({ kind: "finish" });
    if (header === undefined) throw new StoreError({ code: "DEFECT", reason: "a snapshot ended without a header" });
    await this.#thread.close(CLOSED);
    const { epochs, position, nodeCount, sessionCount } = header;
    return { stateFile: this.#parts.name, epochs, position, nodeCount, sessionCount };
  }

  abandon(): Promise<void> {
    this.#abandoning ??= this.#abandon();
    return this.#abandoning;
  }

  async #call(call: SnapshotReceiveCall, transfer: readonly ArrayBuffer[] = []): Promise<SnapshotReceiveAnswer> {
    try {
      return await this.#thread.call(call, transfer);
    } catch (cause) {
      await this.abandon();
      throw cause;
    }
  }

  async #abandon(): Promise<void> {
    await this.#thread.close(CLOSED);
    if (this.#parts.isNamed()) return;
    // Not by a call that blocks: freeing hundreds of MiB takes a file system many milliseconds.
    const { file } = this.#parts;
    for (const each of [`${file}-journal`, file]) await rm(each, { force: true });
    this.#parts.abandoned();
  }
}

const CLOSED = new StoreError({ code: "CLOSED" });
