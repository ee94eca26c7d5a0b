import { assert, copyBytes, WireError } from "@zooid/model";
import type { BufferPool } from "@zooid/wire";
import { decodeEnvelope } from "./envelope-decoder.ts";
import { EnvelopeWriter, envelopeBytesMax } from "./envelope-encoder.ts";
import type { EnvelopeMessage } from "./envelope-message.ts";
import { splitRun } from "./peer-runs.ts";

/**
 * How messages lie on a link:
 *
 * ```
 * ┌────────────┬───────────┬──────────┐
 * │ length u32 │ CRC-32 u32 │ envelope │  big-endian; length and checksum are the envelope's
 * └────────────┴───────────┴──────────┘
 * ```
 *
 * The checksum finds errors of memory and of middle boxes, which TCP's own checksum does not see.
 */
export const PEER_FRAME_HEADER_BYTES = 8;
/** The longest frame from a peer that has not authenticated. */
export const HANDSHAKE_FRAME_BYTES_MAX: number = 64 * 1024;

/**
 * The end of a session lists all its ephemerals in one entry, and those were made by many requests.
 */
const FRAME_BYTES_LEAST = 64 * 1024 * 1024;
const FRAME_SLACK_BYTES = 64 * 1024;

/**
 * The longest frame between servers whose clients may send frames of that length: an entry holds
 * what a client sent, and up to as much again where that was many small operations; and a session
 * may have very many ephemerals.
 */
export function peerFrameBytesMax(clientFrameBytesMax: number): number {
  return Math.max(FRAME_BYTES_LEAST, 2 * clientFrameBytesMax) + FRAME_SLACK_BYTES;
}

/** zlib's CRC-32 of the bytes, as an unsigned number. */
export type Crc32 = (bytes: Uint8Array) => number;

/** A buffer with whole frames from its beginning to `end`. */
export interface FrameChunk {
  readonly buffer: Buffer;
  readonly end: number;
  /** Set where other links send the same buffer: it may be used again once all of them have. */
  readonly sharing: { linkCount: number } | undefined;
}

/** Frames that several links send. */
export interface SharedFrames {
  readonly chunks: readonly FrameChunk[];
  /** No frame is longer. */
  readonly longestBytes: number;
}

interface OpenChunk extends FrameChunk {
  end: number;
  sharing: { linkCount: number } | undefined;
}

/**
 * Gathers messages for one link. Bytes that a message points to are copied once, in `append`.
 *
 * The gathered bytes lie in one buffer, or in several when a message did not fit behind others.
 */
export class PeerFrameWriter {
  /** The longest frame that is written; may be changed between messages. */
  frameBytesMax: number;
  readonly #pool: BufferPool;
  readonly #crc32: Crc32;
  readonly #envelopes = new EnvelopeWriter();
  #chunks: OpenChunk[] = [];
  #pendingBytes = 0;

  constructor(options: { readonly pool: BufferPool; readonly crc32: Crc32; readonly frameBytesMax: number }) {
    this.#pool = options.pool;
    this.#crc32 = options.crc32;
    this.frameBytesMax = options.frameBytesMax;
  }

  /** Bytes gathered and not taken yet. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /**
   * A run that is longer than a frame may be goes out as several messages.
   *
   * @throws WireError when anything else is too long for a frame, or one entry or request is;
   *   nothing of it is gathered then
   */
  append(message: EnvelopeMessage): void {
    const sizeMax = envelopeBytesMax(message);
    if (sizeMax <= this.frameBytesMax || (message.kind !== "entries" && message.kind !== "forward")) {
      this.#appendFrame(message, sizeMax);
      return;
    }
    const parts = [...splitRun(message, this.frameBytesMax - envelopeBytesMax({ ...message, end: message.start }))];
    for (const part of parts) if (envelopeBytesMax(part) > this.frameBytesMax) throw this.#tooLong(part);
    for (const part of parts) this.#appendFrame(part, envelopeBytesMax(part));
  }

  /**
   * Gathers frames that were written for several links: once for all of them, where they are long.
   *
   * @returns false when the frames are longer than this link may have
   */
  appendShared({ chunks, longestBytes }: SharedFrames): boolean {
    if (longestBytes > this.frameBytesMax) return false;
    for (const { buffer, end, sharing } of chunks) {
      if (sharing !== undefined && end >= SHARED_BYTES_MIN) {
        sharing.linkCount++;
        this.#chunks.push({ buffer, end, sharing });
      } else {
        const chunk = this.#room(end);
        copyBytes(buffer, 0, end, chunk.buffer, chunk.end);
        chunk.end += end;
      }
      this.#pendingBytes += end;
    }
    return true;
  }

  /**
   * Hands on what was gathered, in order. A buffer that is not shared belongs to the receiver,
   * which may return it to the pool.
   */
  take(each: (chunk: FrameChunk) => void): void {
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#pendingBytes = 0;
    for (const chunk of chunks) each(chunk);
  }

  #appendFrame(message: EnvelopeMessage, sizeMax: number): void {
    const chunk = this.#room(PEER_FRAME_HEADER_BYTES + sizeMax);
    const { buffer, end: frame } = chunk;
    const start = frame + PEER_FRAME_HEADER_BYTES;
    const end = this.#envelopes.write(buffer, start, message);
    if (end - start > this.frameBytesMax) throw this.#tooLong(message);
    buffer.writeUInt32BE(end - start, frame);
    buffer.writeUInt32BE(this.#crc32(buffer.subarray(start, end)), frame + 4);
    chunk.end = end;
    this.#pendingBytes += end - frame;
  }

  #room(bytes: number): OpenChunk {
    const open = this.#chunks.at(-1);
    if (open !== undefined && open.sharing === undefined && open.buffer.length - open.end >= bytes) return open;
    const chunk: OpenChunk = { buffer: this.#pool.take(Math.max(bytes, CHUNK_BYTES)), end: 0, sharing: undefined };
    this.#chunks.push(chunk);
    return chunk;
  }

  #tooLong(message: EnvelopeMessage): WireError {
    return new WireError("FRAME_SIZE", `a ${message.kind} message is longer than ${this.frameBytesMax} bytes`);
  }
}

const CHUNK_BYTES = 16 * 1024;
/** Shorter frames are copied behind those that wait for the link already. */
const SHARED_BYTES_MIN = 8 * 1024;
const NO_BYTES = Buffer.alloc(0);
/** A longer frame's buffer goes to the collector. */
const SPARE_BYTES_MAX = 512 * 1024;

/**
 * Takes one message, and the bytes of its envelope. A run of entries may be kept, its bytes are not
 * written any more; what else a message points to, and the envelope, are valid during the call.
 * False when no more is wanted: what has come and what comes is dropped.
 */
export type EnvelopeSink = (message: EnvelopeMessage, bytes: Buffer, start: number, end: number) => boolean;

/**
 * Cuts what arrives on one link into messages. A frame that lies within one chunk is read where it
 * lies, another is put together once.
 */
export class PeerFrameReader {
  /** The longest frame that is taken; may be raised between messages. */
  frameBytesMax: number;
  readonly #crc32: Crc32;
  readonly #header: Buffer = Buffer.alloc(PEER_FRAME_HEADER_BYTES);
  #headerBytes = 0;
  /** The frame whose header is known: its envelope is filled up to `#filled`. */
  #frame: Buffer | undefined;
  #length = 0;
  #filled = 0;
  #checksum = 0;
  #isDone = false;
  /** Kept for the next frame that spans chunks. */
  #spare: Buffer = NO_BYTES;

  constructor(options: { readonly crc32: Crc32; readonly frameBytesMax: number }) {
    this.#crc32 = options.crc32;
    this.frameBytesMax = options.frameBytesMax;
  }

  /**
   * Throws a WireError for what is no frame with a message in it: the link cannot be read on after
   * that.
   */
  push(chunk: Buffer, sink: EnvelopeSink): void {
    let at = 0;
    while (at < chunk.length && !this.#isDone) {
      if (this.#frame === undefined) at = this.#begin(chunk, at, sink);
      else at = this.#fill(chunk, at, sink);
    }
  }

  #begin(chunk: Buffer, from: number, sink: EnvelopeSink): number {
    let at = from;
    if (this.#headerBytes > 0 || chunk.length - at < PEER_FRAME_HEADER_BYTES) {
      const more = Math.min(PEER_FRAME_HEADER_BYTES - this.#headerBytes, chunk.length - at);
      copyBytes(chunk, at, at + more, this.#header, this.#headerBytes);
      this.#headerBytes += more;
      if (this.#headerBytes < PEER_FRAME_HEADER_BYTES) return chunk.length;
      this.#headerBytes = 0;
      this.#readHeader(this.#header, 0);
      at += more;
    } else {
      this.#readHeader(chunk, at);
      at += PEER_FRAME_HEADER_BYTES;
    }
    if (chunk.length - at >= this.#length) {
      const end = at + this.#length;
      this.#handOn(chunk, at, end, sink);
      return end;
    }
    if (this.#spare.length < this.#length) this.#spare = Buffer.allocUnsafeSlow(this.#length);
    this.#frame = this.#spare;
    this.#filled = 0;
    return at;
  }

  #readHeader(bytes: Buffer, at: number): void {
    this.#length = bytes.readUInt32BE(at);
    this.#checksum = bytes.readUInt32BE(at + 4);
    if (this.#length === 0 || this.#length > this.frameBytesMax) {
      throw new WireError(
        "FRAME_SIZE",
        `a frame of ${this.#length} bytes; between 1 and ${this.frameBytesMax} are allowed`,
      );
    }
  }

  #fill(chunk: Buffer, at: number, sink: EnvelopeSink): number {
    const frame = this.#frame;
    assert(frame !== undefined, "a frame is being put together");
    const end = Math.min(chunk.length, at + this.#length - this.#filled);
    copyBytes(chunk, at, end, frame, this.#filled);
    this.#filled += end - at;
    if (this.#filled === this.#length) {
      this.#frame = undefined;
      this.#handOn(frame, 0, this.#length, sink);
      if (this.#spare.length > SPARE_BYTES_MAX) this.#spare = NO_BYTES;
    }
    return end;
  }

  #handOn(bytes: Buffer, start: number, end: number, sink: EnvelopeSink): void {
    if (this.#crc32(bytes.subarray(start, end)) !== this.#checksum) {
      throw new WireError("CHECKSUM", `a frame of ${end - start} bytes does not have the checksum that it says`);
    }
    const message = decodeEnvelope(bytes, start, end);
    if (message.kind === "entries" && bytes === this.#spare) this.#spare = NO_BYTES;
    if (!sink(message, bytes, start, end)) this.#isDone = true;
  }
}
