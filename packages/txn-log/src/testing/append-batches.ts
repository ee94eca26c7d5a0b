import { composeZxid, epochOf, FRAME_HEADER_BYTES, type LoggedRun, type RunMarks, type Zxid } from "@zooid/model";
import { BatchCursor, putEntry } from "../log/entry-batch.ts";
import type { Appended, LogHandler } from "../log/txn-log.ts";

/** A run with what is appended along with it. */
export interface AppendBatch extends LoggedRun {
  readonly generation: number;
  readonly committed: Zxid;
  readonly marks?: RunMarks;
}

/** Builders of batches for tests of logs, and a handler that remembers. */

/** Remembers what a log reported. */
export class RecordingHandler implements LogHandler {
  readonly completions: Appended[] = [];
  readonly order: string[] = [];
  /** Whether a write began or ended to wait for room. */
  readonly rooms: ("full" | "room")[] = [];
  readonly failures: Error[] = [];
  readonly warnings: string[] = [];
  readonly #rejections = new Set<(error: Error) => void>();

  /** Makes a promise of a call of the log; it rejects when the log fails, or has failed. */
  promise<T>(ask: (done: (value: T) => void) => void): Promise<T> {
    const [failure] = this.failures;
    if (failure !== undefined) return Promise.reject(failure);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#rejections.add(reject);
    ask((value) => {
      this.#rejections.delete(reject);
      resolve(value);
    });
    return promise;
  }

  appended(done: Appended): void {
    this.completions.push(done);
    this.order.push("appended");
  }
  roomChanged(missing: string | undefined): void {
    this.rooms.push(missing === undefined ? "room" : "full");
  }
  failed(error: Error): void {
    this.failures.push(error);
    for (const reject of this.#rejections) reject(error);
  }
  warned(text: string): void {
    this.warnings.push(text);
  }
}

export function Z(epoch: number, counter: number): Zxid {
  return composeZxid(epoch, counter);
}

/** Counters `first` to `last` of epoch 1. */
export function range(first: number, last: number): Zxid[] {
  return Array.from({ length: last - first + 1 }, (_, i) => Z(1, first + i));
}

export interface BatchParts {
  readonly generation?: number;
  readonly committed?: Zxid;
  readonly records?: readonly Uint8Array[];
}

/** A batch whose records name their zxid, unless they are given. */
export function batchOf(zxids: readonly Zxid[], parts: BatchParts = {}): AppendBatch {
  const records = zxids.map(
    (zxid, i) => parts.records?.[i] ?? new TextEncoder().encode(`record ${zxid} of ${epochOf(zxid)}`),
  );
  const bytes = new Uint8Array(records.reduce((sum, record) => sum + FRAME_HEADER_BYTES + record.length, 0));
  let at = 0;
  zxids.forEach((zxid, i) => {
    at = putEntry(bytes, at, zxid, records[i] ?? new Uint8Array(0));
  });
  return { generation: parts.generation ?? 0, bytes, start: 0, end: at, committed: parts.committed ?? Z(0, 0) };
}

export function zxidsOf(bytes: Uint8Array): Zxid[] {
  const cursor = new BatchCursor();
  const zxids: Zxid[] = [];
  cursor.open(bytes, 0, bytes.length);
  while (cursor.next()) zxids.push(cursor.zxid);
  return zxids;
}

export function recordsOf(bytes: Uint8Array): Uint8Array[] {
  const cursor = new BatchCursor();
  const records: Uint8Array[] = [];
  cursor.open(bytes, 0, bytes.length);
  while (cursor.next()) records.push(cursor.record().slice());
  return records;
}
