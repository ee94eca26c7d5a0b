/** Sizes are powers of two from the smallest to the largest that is kept. */
const SMALLEST_LOG2 = 10;
const LARGEST_LOG2 = 21;

/**
 * Buffers to write replies into, by size class, last in first out: the one used a moment ago is still in the processor's
 * cache. What is larger than two mebibytes, or more than `keptBytesMax` in all, goes to the collector.
 */
export class BufferPool {
  readonly #free: Buffer[][] = Array.from({ length: LARGEST_LOG2 + 1 }, () => []);
  readonly #keptBytesMax: number;
  #keptBytes = 0;

  constructor(keptBytesMax: number = 16 * 1024 * 1024) {
    this.#keptBytesMax = keptBytesMax;
  }

  /** A buffer of at least that many bytes, with old content in it. */
  take(bytes: number): Buffer {
    const log2 = Math.max(SMALLEST_LOG2, 32 - Math.clz32(bytes - 1));
    if (log2 > LARGEST_LOG2) return Buffer.allocUnsafeSlow(bytes);
    const buffer = this.#free[log2]?.pop();
    if (buffer === undefined) return Buffer.allocUnsafeSlow(1 << log2);
    this.#keptBytes -= buffer.length;
    return buffer;
  }

  /** Returns a buffer of `take` that is not read any more. */
  give(buffer: Buffer): void {
    const log2 = 31 - Math.clz32(buffer.length);
    if (log2 < SMALLEST_LOG2 || log2 > LARGEST_LOG2 || this.#keptBytes + buffer.length > this.#keptBytesMax) return;
    this.#keptBytes += buffer.length;
    this.#free[log2]?.push(buffer);
  }
}
