import type { BufferPool } from "@zooid/wire";
import { envelopeBytesMax } from "./envelope-encoder.ts";
import type { EnvelopeMessage } from "./envelope-message.ts";
import { type Crc32, type FrameChunk, PeerFrameWriter, type SharedFrames } from "./peer-frames.ts";

type EntriesMessage = Extract<EnvelopeMessage, { readonly kind: "entries" }>;

/**
 * The frames of the last sent entries, shared by all links: a leader mostly sends each of its
 * learners the same entries, and copies and checksums them once.
 */
export class EntryFrames {
  readonly #pool: BufferPool;
  readonly #writer: PeerFrameWriter;
  #message: EntriesMessage | undefined;
  #frames: SharedFrames = { chunks: [], longestBytes: 0 };

  constructor(options: { readonly pool: BufferPool; readonly crc32: Crc32; readonly frameBytesMax: number }) {
    this.#pool = options.pool;
    this.#writer = new PeerFrameWriter(options);
  }

  /**
   * The frames of a message, valid until the next call of this or of {@link clear}.
   *
   * @throws WireError when an entry is too long for any frame
   */
  of(message: EntriesMessage): SharedFrames {
    if (this.#message !== undefined && isSame(this.#message, message)) return this.#frames;
    this.clear();
    this.#writer.append(message);
    const chunks: FrameChunk[] = [];
    this.#writer.take(({ buffer, end }) => chunks.push({ buffer, end, sharing: { linkCount: 1 } }));
    const longestBytes = Math.min(this.#writer.frameBytesMax, envelopeBytesMax(message));
    this.#frames = { chunks, longestBytes };
    this.#message = message;
    return this.#frames;
  }

  /** No further link will be sent the same. */
  clear(): void {
    if (this.#message === undefined) return;
    for (const chunk of this.#frames.chunks) returnChunk(chunk, this.#pool);
    this.#message = undefined;
    this.#frames = { chunks: [], longestBytes: 0 };
  }
}

/** Gives a chunk that a link has sent back to the pool, once no other link sends it any more. */
export function returnChunk({ buffer, sharing }: FrameChunk, pool: BufferPool): void {
  if (sharing === undefined || --sharing.linkCount === 0) pool.give(buffer);
}

/** An entry of an epoch never changes: where it begins and ends says what a run of them holds. */
function isSame(a: EntriesMessage, b: EntriesMessage): boolean {
  return (
    a.epoch === b.epoch &&
    a.previous === b.previous &&
    a.first === b.first &&
    a.last === b.last &&
    a.committed === b.committed &&
    a.check === b.check &&
    a.end - a.start === b.end - b.start
  );
}
