import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { putRecord, RECORD_HEAD_BYTES, type RecordKind } from "./spool-record.ts";

export interface SpoolOptions {
  /** Gets a folder of its own, when the memory is full. */
  readonly directory: string;
  /** Bytes kept in memory; the rest is in files. */
  readonly memoryBytesMax: number;
}

/** Bytes that are written to a file, and handed out, at a time. A larger record stands alone. */
export const SEGMENT_BYTES: number = 1024 * 1024;

/** A few records are copied, so that their segment is used again. */
const COPIED_BYTES_MAX = 64 * 1024;

type Segment =
  | { readonly kind: "memory"; readonly bytes: Buffer }
  | { readonly kind: "file"; readonly file: string; readonly length: number };

/**
 * Records that came and were not read yet, first in, first out: in memory up to a bound, then in
 * files. It is a buffer, not a log: nothing is synced, and nothing outlives the process.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #segments: Segment[] = [];
  /** The segment that is being written. */
  #tail: Buffer = Buffer.allocUnsafeSlow(SEGMENT_BYTES);
  #tailEnd = 0;
  #memoryBytes = 0;
  #bytes = 0;
  #folder: string | undefined;
  #fileCount = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
  }

  /** Bytes that wait to be read. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @throws the system's error where a file cannot be written; the record is kept in memory then
   */
  push(kind: RecordKind, body: Uint8Array): void {
    const length = RECORD_HEAD_BYTES + body.length;
    this.#bytes += length;
    if (this.#tailEnd + length > this.#tail.length) {
      this.#seal();
      if (length > this.#tail.length) this.#tail = Buffer.allocUnsafeSlow(length);
    }
    this.#tailEnd = putRecord(this.#tail, this.#tailEnd, kind, body);
    this.#save();
  }

  /**
   * The oldest records, whole, at most a segment of them; undefined where there are none. The bytes
   * are the only ones of their buffer that are in use, so that it can be transferred.
   */
  take(): Buffer | undefined {
    const first = this.#segments.shift();
    if (first === undefined) {
      if (this.#tailEnd === 0) return undefined;
      return this.#takeTail();
    }
    if (first.kind === "memory") {
      this.#bytes -= first.bytes.length;
      this.#memoryBytes -= first.bytes.length;
      return first.bytes;
    }
    this.#bytes -= first.length;
    const bytes = readFileSync(first.file);
    rmSync(first.file);
    // A short file is read into a buffer that is shared.
    return bytes.length > COPIED_BYTES_MAX ? bytes : Buffer.from(Uint8Array.from(bytes).buffer);
  }

  #takeTail(): Buffer {
    const used = this.#tail.subarray(0, this.#tailEnd);
    this.#bytes -= used.length;
    if (used.length > COPIED_BYTES_MAX) {
      this.#begin();
      return used;
    }
    this.#tailEnd = 0;
    return Buffer.from(Uint8Array.from(used).buffer);
  }

  /** Removes its files. */
  close(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
    this.#segments.length = 0;
  }

  #seal(): void {
    if (this.#tailEnd === 0) return;
    this.#memoryBytes += this.#tailEnd;
    this.#segments.push({ kind: "memory", bytes: this.#tail.subarray(0, this.#tailEnd) });
    this.#begin();
  }

  #begin(): void {
    this.#tail = Buffer.allocUnsafeSlow(SEGMENT_BYTES);
    this.#tailEnd = 0;
  }

  /** Moves the newest segments to files: the oldest are read first. */
  #save(): void {
    if (this.#memoryBytes <= this.#options.memoryBytesMax) return;
    for (let i = this.#segments.length - 1; i >= 0; i--) {
      const segment = this.#segments[i];
      if (segment?.kind !== "memory") continue;
      this.#folder ??= mkdtempSync(join(this.#options.directory, "apache-peer-"));
      const file = join(this.#folder, `${this.#fileCount++}`);
      writeFileSync(file, segment.bytes);
      this.#segments[i] = { kind: "file", file, length: segment.bytes.length };
      this.#memoryBytes -= segment.bytes.length;
      if (this.#memoryBytes <= this.#options.memoryBytesMax) return;
    }
  }
}
