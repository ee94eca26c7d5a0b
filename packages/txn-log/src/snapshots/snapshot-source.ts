import type { BaseSource } from "../archive/archive-base.ts";
import type { WrittenPart } from "../archive/base-part.ts";
import type { EpochRange, LogPosition } from "../log/txn-log.ts";
import type { SnapshotContent, SnapshotSource } from "../state/state-store.ts";
import { StoreError } from "../store/store-error.ts";
import { CallThread } from "../threads/call-thread.ts";
import { isLastChunk } from "./snapshot-format.ts";
import type { SnapshotOpened, SnapshotSendAnswer, SnapshotSendCall, SnapshotSendData } from "./snapshot-send-thread.ts";

export interface SnapshotSourceParts extends SnapshotSendData {
  /** Maximum time until the next chunk. */
  readonly holdMs: number;
  /** The state file need not stand still any more. Called once. */
  readonly read: () => void;
  /** Called once. */
  readonly disposed: () => void;
}

type SendThread = CallThread<SnapshotSendCall, SnapshotSendAnswer>;

export async function openSnapshotSource(parts: SnapshotSourceParts): Promise<ThreadSnapshotSource> {
  const { form, stateFile, epochs } = parts;
  const data: SnapshotSendData = { form, stateFile, epochs };
  const thread: SendThread = new CallThread("snapshots/snapshot-send-thread", data);
  try {
    const opened = await thread.call({ kind: "open" });
    if (opened?.kind !== "opened") throw defect("a source was not answered by a header");
    return new ThreadSnapshotSource(parts, thread, opened);
  } catch (cause) {
    await thread.close(CLOSED);
    throw cause;
  }
}

/**
 * A snapshot read by a thread of its own, one chunk ahead of who asks; or copied into the parts of
 * a base by that thread, so that nothing of it passes the caller's.
 */
export class ThreadSnapshotSource implements SnapshotSource, BaseSource {
  readonly position: LogPosition;
  readonly epochs: readonly EpochRange[];
  readonly digestHigh: number;
  readonly digestLow: number;
  readonly nodeCount: number;
  readonly sessionCount: number;
  /** The content of the stream in Apache's form; undefined in the other one. */
  readonly content: SnapshotContent | undefined;
  readonly #parts: SnapshotSourceParts;
  readonly #thread: SendThread;
  readonly #timer: NodeJS.Timeout;
  /** From the first chunk that is asked for. */
  #ahead: Promise<Uint8Array | undefined> | undefined;
  #isWriting = false;
  #isReading = true;
  #ended: Error | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: SnapshotSourceParts, thread: SendThread, { header, content }: SnapshotOpened) {
    this.#parts = parts;
    this.#thread = thread;
    this.position = header.position;
    this.epochs = header.epochs;
    this.digestHigh = header.digestHigh;
    this.digestLow = header.digestLow;
    this.nodeCount = header.nodeCount;
    this.sessionCount = header.sessionCount;
    this.content = content;
    const { holdMs } = parts;
    this.#timer = setTimeout(() => this.#waitedFor(holdMs), holdMs);
    this.#timer.unref();
  }

  #waitedFor(holdMs: number): void {
    if (this.#isWriting) this.#timer.refresh();
    else this.end(`no chunk was asked for within ${holdMs} ms`);
  }

  next(): Promise<Uint8Array | undefined> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    if (this.#isReading) this.#timer.refresh();
    const next = this.#ahead ?? this.#read();
    this.#ahead = this.#read();
    return next;
  }

  async writePart(file: string): Promise<WrittenPart | undefined> {
    if (this.#ended !== undefined) throw this.#ended;
    if (!this.#isReading) return undefined;
    this.#isWriting = true;
    try {
      const part = await this.#thread.call({ kind: "part", file });
      if (part !== undefined && part.kind !== "part") throw defect("a part was asked for, and something else came");
      if (this.#ended !== undefined) throw this.#ended;
      if (part?.isLast !== false) await this.#endOfFile();
      else this.#timer.refresh();
      return part;
    } catch (cause) {
      this.#stop(cause instanceof Error ? cause : defect(String(cause)));
      throw cause;
    } finally {
      this.#isWriting = false;
    }
  }

  /** Gives up what is not read yet. */
  end(reason: string): void {
    if (!this.#isReading) return;
    this.#stop(new StoreError({ code: "SNAPSHOT_ENDED", reason }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stop(CLOSED);
    await this.#thread.close(CLOSED);
    this.#parts.disposed();
  }

  #read(): Promise<Uint8Array | undefined> {
    const read = this.#readNext();
    // Reported to the caller of this chunk, if there is one.
    read.catch(() => {});
    return read;
  }

  async #readNext(): Promise<Uint8Array | undefined> {
    if (!this.#isReading) return undefined;
    try {
      const answer = await this.#thread.call({ kind: "next" });
      if (answer !== undefined && answer.kind !== "chunk")
        throw defect("a chunk was asked for, and something else came");
      const chunk = answer?.bytes;
      if (chunk === undefined || isLastChunk(chunk)) await this.#endOfFile();
      return chunk;
    } catch (cause) {
      this.#stop(cause instanceof Error ? cause : defect(String(cause)));
      throw cause;
    }
  }

  /** Lets go of the file, whose transaction ends with the call after the last chunk. */
  async #endOfFile(): Promise<void> {
    if (!this.#isReading) return;
    this.#isReading = false;
    clearTimeout(this.#timer);
    try {
      await this.#thread.call({ kind: "next" });
    } finally {
      this.#parts.read();
    }
  }

  #stop(error: Error): void {
    this.#ended ??= error;
    if (!this.#isReading) return;
    this.#isReading = false;
    clearTimeout(this.#timer);
    // The thread ends its transaction as it closes; only then may the file move on.
    this.#thread.close(error).then(this.#parts.read, this.#parts.read);
  }
}

const CLOSED = new StoreError({ code: "CLOSED" });

function defect(reason: string): StoreError {
  return new StoreError({ code: "DEFECT", reason });
}
