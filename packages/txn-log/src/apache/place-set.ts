const BITS_FIRST = 8192;

/** A set of places in a {@link PathIndex}: a bit for each, and no limit below that of the index. */
export class PlaceSet {
  #bits = new Uint8Array(BITS_FIRST >> 3);

  add(place: number): void {
    const at = place >> 3;
    if (at >= this.#bits.length) {
      const grown = new Uint8Array(Math.max(this.#bits.length * 2, at + 1));
      grown.set(this.#bits);
      this.#bits = grown;
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (place & 7));
  }

  has(place: number): boolean {
    return ((this.#bits[place >> 3] ?? 0) & (1 << (place & 7))) !== 0;
  }
}
