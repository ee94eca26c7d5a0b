/** A buffer that one huge batch made this large is left to the collector. */
const BUFFER_BYTES_MAX = 4 * 1024 * 1024;
/** Large values in flight need about as much while the disk is behind. */
const SPARE_BYTES_MAX = 32 * 1024 * 1024;
/**
 * Number of buffers taken between two reviews; buffers that were spare since the last one are
 * released.
 */
const PERIOD = 1024;

/**
 * Buffers of earlier batches for later ones, in powers of two.
 *
 * A buffer is memory outside of the heap. Each one that is left to the collector counts there, and
 * with large values every few megabytes of them would force a full collection.
 */
export class SpareBuffers {
  readonly #spare: Uint8Array[] = [];
  #spareBytes = 0;
  #taken = 0;
  /** The fewest that were spare in this period. */
  #idleCount = 0;

  get sizeBytes(): number {
    return this.#spareBytes;
  }

  /** A buffer of at least that many bytes, with old content in it. */
  take(bytes: number): Uint8Array {
    const spare = this.#spare;
    if (++this.#taken >= PERIOD) this.#giveUpIdle();
    // The last one was used a moment ago: it is in the processor's cache, and mostly large enough.
    let index = spare.length - 1;
    while (index >= 0 && (spare[index] as Uint8Array).length < bytes) index--;
    if (index < 0) return Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(bytes)));
    const buffer = spare[index] as Uint8Array;
    if (index === spare.length - 1) spare.pop();
    else spare.splice(index, 1);
    this.#spareBytes -= buffer.length;
    if (spare.length < this.#idleCount) this.#idleCount = spare.length;
    return buffer;
  }

  /** Keeps a buffer that is not read any more; with too many the oldest go. */
  give(buffer: Uint8Array): void {
    if (buffer.length > BUFFER_BYTES_MAX) return;
    this.#spare.push(buffer);
    this.#spareBytes += buffer.length;
    while (this.#spareBytes > SPARE_BYTES_MAX) this.#dropOldest();
  }

  #giveUpIdle(): void {
    for (let i = 0; i < this.#idleCount; i++) this.#dropOldest();
    this.#taken = 0;
    this.#idleCount = this.#spare.length;
  }

  #dropOldest(): void {
    this.#spareBytes -= this.#spare.shift()?.length ?? 0;
  }
}
