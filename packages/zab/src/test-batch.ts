import { composeZxid, FRAME_HEADER_BYTES, type FrameBatch, writeFrameHeader, type Zxid } from "@zooid/model";
import type { ZabSinks } from "./events.ts";

/** For tests: a batch of entries that say their own counter, in an epoch. */
export function batchOf(epoch: number, ...counters: readonly number[]): FrameBatch {
  const records = counters.map((counter) => new TextEncoder().encode(`entry ${counter}`));
  const bytes = new Uint8Array(records.reduce((sum, record) => sum + FRAME_HEADER_BYTES + record.length, 0));
  let at = 0;
  for (const [i, record] of records.entries()) {
    writeFrameHeader(bytes, at, composeZxid(epoch, counters[i] ?? 0), record.length);
    bytes.set(record, at + FRAME_HEADER_BYTES);
    at += FRAME_HEADER_BYTES + record.length;
  }
  return {
    first: composeZxid(epoch, counters[0] ?? 0),
    last: composeZxid(epoch, counters.at(-1) ?? 0),
    count: counters.length,
    bytes,
    end: bytes.length,
  };
}

/** For tests: sinks that are lists. */
export class RecordingSinks implements ZabSinks {
  readonly appended: { readonly batch: FrameBatch; readonly generation: number }[] = [];
  readonly delivered: string[] = [];
  readonly zxids: Zxid[] = [];
  readonly released: FrameBatch[] = [];

  append(batch: FrameBatch, generation: number): void {
    this.appended.push({ batch, generation });
  }

  deliver(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    this.zxids.push(zxid);
    this.delivered.push(new TextDecoder().decode(bytes.subarray(start, end)));
  }

  release(batch: FrameBatch): void {
    this.released.push(batch);
  }
}
