const BYTES_KEPT = 4096;

/** A buffer for the path of a prepared op, used again by the next one. */
export class PathScratch {
  #buffer: Buffer = Buffer.allocUnsafeSlow(BYTES_KEPT);

  /** The buffer, with room for at least `length` bytes. Its contents are undefined. */
  of(length: number): Buffer {
    if (this.#buffer.length < length) this.#buffer = Buffer.allocUnsafeSlow(length * 2);
    return this.#buffer;
  }
}
