/** Sizes are powers of two from the smallest to the largest that is kept. */
const SMALLEST_LOG2 = 10;
const LARGEST_LOG2 = 21;

/**
 * A buffer to write into, with a view for numbers: a view of its own for each use would cost more
 * than it saves.
 */
export interface WriteBuffer {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/**
 * Buffers to write replies into, by size class, last in first out: the one used a moment ago is
 * still in the processor's cache. What is larger than two mebibytes, or more than `keptBytesMax` in
 * all, goes to the collector.
 */
export class BufferPool {
  readonly #free: Buffer[][] = Array.from({ length: LARGEST_LOG2 + 1 }, () => []);
  readonly #freeToWrite: WriteBuffer[][] = Array.from({ length: LARGEST_LOG2 + 1 }, () => []);
  readonly #keptBytesMax: number;
  #keptBytes = 0;

  constructor(keptBytesMax: number = 16 * 1024 * 1024) {
    this.#keptBytesMax = keptBytesMax;
  }

  /** A buffer of at least that many bytes, with old content in it. */
  take(bytes: number): Buffer {
    const log2 = classFor(bytes);
    if (log2 > LARGEST_LOG2) return Buffer.allocUnsafeSlow(bytes);
    const buffer = this.#free[log2]?.pop();
    if (buffer === undefined) return Buffer.allocUnsafeSlow(1 << log2);
    this.#keptBytes -= buffer.length;
    return buffer;
  }

  /** Returns a buffer of `take` that is not read any more. */
  give(buffer: Buffer): void {
    if (this.#mayKeep(buffer.length)) this.#free[classOf(buffer.length)]?.push(buffer);
  }

  /** As {@link take}, for {@link giveWritten}. */
  takeToWrite(bytes: number): WriteBuffer {
    const log2 = classFor(bytes);
    const free = log2 > LARGEST_LOG2 ? undefined : this.#freeToWrite[log2]?.pop();
    if (free === undefined) return newWriteBuffer(log2 > LARGEST_LOG2 ? bytes : 1 << log2);
    this.#keptBytes -= free.bytes.length;
    return free;
  }

  giveWritten(buffer: WriteBuffer): void {
    const { length } = buffer.bytes;
    if (this.#mayKeep(length)) this.#freeToWrite[classOf(length)]?.push(buffer);
  }

  #mayKeep(bytes: number): boolean {
    const log2 = classOf(bytes);
    if (log2 < SMALLEST_LOG2 || log2 > LARGEST_LOG2 || this.#keptBytes + bytes > this.#keptBytesMax) return false;
    this.#keptBytes += bytes;
    return true;
  }
}

/** The class whose buffers are that long at least. */
function classFor(bytes: number): number {
  return Math.max(SMALLEST_LOG2, 32 - Math.clz32(bytes - 1));
}

function classOf(bytes: number): number {
  return 31 - Math.clz32(bytes);
}

export function newWriteBuffer(bytes: number): WriteBuffer {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  return { bytes: buffer, view: new DataView(buffer.buffer, buffer.byteOffset, buffer.length) };
}
