import { FRAME_HEADER_BYTES, type FrameBatch, writeFrameHeader, type Zxid } from "@zooid/model";

/**
 * A batch to propose: entries as frames, with consecutive zxids from `first` on. At least one
 * entry.
 */
export function frameEntries(first: Zxid, entries: readonly Uint8Array[]): FrameBatch {
  const bytes = new Uint8Array(entries.reduce((sum, entry) => sum + FRAME_HEADER_BYTES + entry.length, 0));
  let end = 0;
  let next = first;
  for (const entry of entries) {
    writeFrameHeader(bytes, end, next, entry.length);
    bytes.set(entry, end + FRAME_HEADER_BYTES);
    end += FRAME_HEADER_BYTES + entry.length;
    next = (next + 1) as Zxid;
  }
  return { first, last: (next - 1) as Zxid, count: entries.length, bytes, end };
}
