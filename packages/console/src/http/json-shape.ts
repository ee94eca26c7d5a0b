const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Limits on the shape of JSON: its depth and the number of its values decide how long parsing
 * takes.
 */
export interface JsonLimits {
  readonly bytesMax: number;
  /** Arrays and objects in each other. */
  readonly depthMax: number;
  /** Values, and names of fields. */
  readonly valuesMax: number;
}

/** Counts what JSON holds while its bytes arrive, before any of it is parsed. */
export class JsonShape {
  readonly #limits: JsonLimits;
  #bytes = 0;
  #depth = 0;
  #values = 1;
  #isText = false;
  #isEscaped = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** @returns which limit is exceeded; undefined while none is */
  add(chunk: Uint8Array): keyof JsonLimits | undefined {
    const { bytesMax, depthMax, valuesMax } = this.#limits;
    this.#bytes += chunk.length;
    if (this.#bytes > bytesMax) return "bytesMax";
    for (const byte of chunk) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === QUOTE) this.#isText = !this.#isText;
      else if (this.#isText) this.#isEscaped = byte === BACKSLASH;
      else this.#count(byte);
      if (this.#depth > depthMax) return "depthMax";
      if (this.#values > valuesMax) return "valuesMax";
    }
    return undefined;
  }

  #count(byte: number): void {
    if (byte === COMMA || byte === COLON) this.#values++;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      this.#depth++;
      this.#values++;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) this.#depth--;
  }
}
