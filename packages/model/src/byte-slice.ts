/**
 * A run of bytes inside a buffer of another owner.
 *
 * Slices are reused: the receiver reads it before returning and copies the bytes that it keeps.
 */
export interface ByteSlice {
  bytes: Uint8Array;
  start: number;
  end: number;
}

const NO_BYTES = new Uint8Array(0);

export function emptySlice(): ByteSlice {
  return { bytes: NO_BYTES, start: 0, end: 0 };
}

export function setSlice(slice: ByteSlice, bytes: Uint8Array, start: number, end: number): void {
  slice.bytes = bytes;
  slice.start = start;
  slice.end = end;
}

/** A slice over all of a text's UTF-8 bytes: for tests and for ways that are not hot. */
export function sliceOf(text: string): ByteSlice {
  const bytes = new TextEncoder().encode(text);
  return { bytes, start: 0, end: bytes.length };
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Malformed UTF-8 becomes U+FFFD, as in Java. */
export function sliceText({ bytes, start, end }: Readonly<ByteSlice>): string {
  // A Buffer's own way makes no view, and takes half as long for short texts.
  return Buffer.isBuffer(bytes) ? bytes.toString("utf8", start, end) : decoder.decode(bytes.subarray(start, end));
}

/** A copy that its holder may keep. (A Buffer's own `slice` would be a view.) */
export function copySlice(slice: Readonly<ByteSlice>): Uint8Array {
  return copyRange(slice.bytes, slice.start, slice.end);
}

/** A copy of a range, also of a `Buffer`, whose own `slice` is a view of the same memory. */
export function copyRange(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes, start, end);
}

export function sliceEquals(slice: Readonly<ByteSlice>, other: Readonly<ByteSlice>): boolean {
  if (slice.end - slice.start !== other.end - other.start) return false;
  for (let i = slice.start, j = other.start; i < slice.end; i++, j++) {
    if (slice.bytes[i] !== other.bytes[j]) return false;
  }
  return true;
}

export function sliceBeginsWith(slice: Readonly<ByteSlice>, prefix: Readonly<ByteSlice>): boolean {
  if (slice.end - slice.start < prefix.end - prefix.start) return false;
  for (let i = slice.start, j = prefix.start; j < prefix.end; i++, j++) {
    if (slice.bytes[i] !== prefix.bytes[j]) return false;
  }
  return true;
}

/** Above this many bytes the runtime's own copy beats a loop. */
const LOOP_COPY_MAX = 48;

/**
 * Copies bytes between buffers without making a view.
 *
 * `Uint8Array.prototype.set` needs a subarray of the source, which is garbage for each call; Node's
 * `Buffer` copies ranges.
 */
export function copyBytes(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): void {
  if (end - start <= LOOP_COPY_MAX) {
    for (let i = start, j = at; i < end; i++, j++) target[j] = source[i] as number;
  } else {
    // It works on every Uint8Array, whatever its declared receiver.
    Buffer.prototype.copy.call(source, target, at, start, end);
  }
}
