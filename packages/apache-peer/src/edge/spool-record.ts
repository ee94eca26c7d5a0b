/**
 * The records that the thread which reads the link hands to the consumer, in the order of the link:
 *
 * ```
 *  length of the body u32 · kind u8 · body
 * ```
 */
import { ApachePeerError } from "../core/peer-error.ts";

export const RecordKind = {
  /** A note as JSON, see `LinkNote`. */
  NOTE: 1,
  SNAPSHOT_BYTES: 2,
  /** A transaction, as Apache's servers log it. */
  TRANSACTION: 3,
} as const;

export type RecordKind = (typeof RecordKind)[keyof typeof RecordKind];

export const RECORD_HEAD_BYTES = 5;

export function putRecord(into: Buffer, at: number, kind: RecordKind, body: Uint8Array): number {
  into.writeUInt32BE(body.length, at);
  into.writeUInt8(kind, at + 4);
  into.set(body, at + RECORD_HEAD_BYTES);
  return at + RECORD_HEAD_BYTES + body.length;
}

/** The records of a batch; each body is a view. */
export function* recordsOf(batch: Buffer): Generator<{ readonly kind: number; readonly body: Buffer }> {
  for (let at = 0; at < batch.length; ) {
    const start = at + RECORD_HEAD_BYTES;
    const end = start + batch.readUInt32BE(at);
    yield { kind: batch.readUInt8(at + 4), body: batch.subarray(start, end) };
    at = end;
  }
}

export function noteBytes(note: object): Buffer {
  return Buffer.from(JSON.stringify(note));
}

/** The text of an error and its detail, to be made an error again in another thread. */
export function toDetail(error: unknown): ApachePeerError["detail"] {
  if (error instanceof ApachePeerError) return error.detail;
  return { code: "CONNECTION_LOST", reason: error instanceof Error ? error.message : String(error) };
}
