import { type Zxid, zxidFromHalves, zxidHigh, zxidLow } from "./zxid.ts";

/**
 * How transactions lie one behind another in a batch, in the log's appends and between servers:
 *
 * ```
 * ┌──────────┬────────────┬────────┐
 * │ zxid u64 │ length u32 │ record │  … and the next one, big-endian both
 * └──────────┴────────────┴────────┘
 * ```
 */
export const FRAME_HEADER_BYTES = 12;

/**
 * A run of frames with consecutive zxids of one epoch. Links and the log carry the records without
 * reading them.
 */
export interface FrameBatch {
  readonly first: Zxid;
  readonly last: Zxid;
  readonly count: number;
  /** Frames from 0 to `end`; the bytes are the holder's until it gives the batch back. */
  readonly bytes: Uint8Array;
  readonly end: number;
}

/** The zxid in the frame that begins at `at`. */
export function frameZxid(bytes: Uint8Array, at: number): Zxid {
  return zxidFromHalves(readInt(bytes, at), readInt(bytes, at + 4));
}

/**
 * How many bytes the record has whose frame begins at `at`; the record stands
 * {@link FRAME_HEADER_BYTES} behind it.
 */
export function frameLength(bytes: Uint8Array, at: number): number {
  return readInt(bytes, at + 8) >>> 0;
}

export function writeFrameHeader(bytes: Uint8Array, at: number, zxid: Zxid, length: number): void {
  writeInt(bytes, at, zxidHigh(zxid));
  writeInt(bytes, at + 4, zxidLow(zxid));
  writeInt(bytes, at + 8, length);
}

function readInt(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}

function writeInt(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}
