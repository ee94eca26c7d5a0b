/**
 * ZooKeeper's primitives, written and read plainly and apart from our own codec on purpose:
 * transcripts and fault tests check the codec's bytes by these, and a mistake shared by both would
 * not show. The connection below them is the one of all test clients.
 */
export class JuteWriter {
  readonly #parts: Buffer[] = [];

  int(value: number): this {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    this.#parts.push(bytes);
    return this;
  }
  long(value: bigint): this {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64BE(value);
    this.#parts.push(bytes);
    return this;
  }
  bool(value: boolean): this {
    this.#parts.push(Buffer.of(value ? 1 : 0));
    return this;
  }
  buffer(value: Uint8Array): this {
    this.int(value.length);
    this.#parts.push(Buffer.from(value));
    return this;
  }
  string(value: string): this {
    return this.buffer(Buffer.from(value));
  }
  raw(value: Buffer): this {
    this.#parts.push(value);
    return this;
  }
  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

export class JuteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }
  int(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }
  long(): bigint {
    this.#at += 8;
    return this.#bytes.readBigInt64BE(this.#at - 8);
  }
  bool(): boolean {
    this.#at += 1;
    return this.#bytes.readUInt8(this.#at - 1) !== 0;
  }
  buffer(): Buffer | undefined {
    const length = this.int();
    if (length < 0) return undefined;
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
  string(): string {
    return String(this.buffer() ?? "");
  }
  skip(byteCount: number): void {
    this.#at += byteCount;
  }
  rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }
}
