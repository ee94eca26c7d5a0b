import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { FRAME_HEADER_BYTES, formatZxid, frameLength, frameZxid, type Zxid } from "@zooid/model/storage";
import { type Chain, ChainCursor, formatChain } from "../log/chain.ts";
import type { EntrySink } from "../segments/entry-sink.ts";
import {
  type ArchiveFooter,
  BLOCK_FRAMES_MAX,
  BLOCKS_MAX,
  damaged,
  decodeFooter,
  type Extent,
  footerLength,
  HEAD,
  PAIR_BYTES,
  ROW_BYTES,
  TRAILER_BYTES,
} from "./archive-format.ts";
import { pathHash } from "./path-hash.ts";
import { blocksOf } from "./path-index.ts";
import { unpacked } from "./zstd.ts";

const READ_BYTES = 256 * 1024;
/** More pairs than a file of the largest size can have. */
const PAIRS_MAX = 16 * 1024 * 1024;
/** An {@link ArchiveBlock} in memory. */
const BLOCK_HEAP_BYTES = 100;

/** A block of a file. */
export interface ArchiveBlock extends Extent {
  /** Bytes of its frames. */
  readonly frameBytes: number;
  readonly first: Zxid;
}

/**
 * A file of the archive. Every read is bounded: the footer gives the size of the table, and the
 * table gives the size of each block.
 *
 * It is open from its construction until it is disposed of; a later read opens it again. So its
 * index can be kept without an open file, which would hold the room of a file that was removed.
 *
 * Only {@link verify} reads everything against the chain and the file's sum.
 */
export class ArchiveFile implements Disposable {
  readonly file: string;
  readonly footer: ArchiveFooter;
  #handle: number | undefined;
  readonly #size: number;
  #blocks: readonly ArchiveBlock[] | undefined;
  #index: Buffer | undefined;

  /** @throws StoreError `DAMAGED` or `NEWER_FORMAT` */
  constructor(file: string) {
    this.file = file;
    this.#handle = openSync(file, "r");
    try {
      this.#size = fstatSync(this.#handle).size;
      this.footer = this.#readFooter();
    } catch (cause) {
      this[Symbol.dispose]();
      throw cause;
    }
  }

  /** Bytes of the file. */
  get size(): number {
    return this.#size;
  }

  /** About what the table and the index take in memory once they have been read. */
  get indexBytes(): number {
    return this.footer.blockCount * BLOCK_HEAP_BYTES + this.footer.pairCount * PAIR_BYTES;
  }

  get blocks(): readonly ArchiveBlock[] {
    this.#blocks ??= this.#readTable();
    return this.#blocks;
  }

  /** Hands over the entries after a zxid, in order. */
  walk(after: Zxid, sink: EntrySink): void {
    const { blocks } = this;
    const behind = blocks.findIndex(({ first }) => first > after);
    const from = behind === -1 ? blocks.length - 1 : Math.max(0, behind - 1);
    for (const [at] of blocks.entries()) if (at >= from) this.#walkBlock(at, after, sink);
  }

  /** The chain at an entry, or at the file's begin; undefined where there is no such entry. */
  chainAt(zxid: Zxid): Chain | undefined {
    const { after } = this.footer;
    if (zxid === after.zxid) return after.chain;
    const chain = new ChainCursor();
    chain.set(after.chain);
    let found: Chain | undefined;
    this.walk(after.zxid, (at, bytes, start, end) => {
      chain.add(at, end - start, crc32(bytes.subarray(start, end)));
      if (at === zxid) found = chain.value();
    });
    return found;
  }

  /** Hands over the entries of one block. */
  walkBlock(number: number, sink: EntrySink): void {
    this.#walkBlock(number, 0, sink);
  }

  /**
   * The numbers of the blocks that may have an entry that changes a node, ascending; those of a
   * path with a slash behind it may have one that creates or deletes a child.
   */
  blocksOf(path: Uint8Array): readonly number[] {
    this.#index ??= this.#readIndex();
    return blocksOf(this.#index, pathHash(path, 0, path.length, this.footer.seed));
  }

  /**
   * Reads all of it: the sum, and each entry against the chain and the footer.
   *
   * @throws StoreError `DAMAGED` with the place
   */
  verify(): void {
    this.#verifySum();
    const { after, end, entryCount, frameBytes } = this.footer;
    const chain = new ChainCursor();
    chain.set(after.chain);
    let last = after.zxid;
    let count = 0;
    let bytesInAll = 0;
    this.walk(after.zxid, (zxid, bytes, start, stop) => {
      chain.add(zxid, stop - start, crc32(bytes.subarray(start, stop)));
      last = zxid;
      count++;
      bytesInAll += FRAME_HEADER_BYTES + stop - start;
    });
    if (last !== end.zxid || chain.value() !== end.chain) {
      const found = `${formatZxid(last)}, chain ${formatChain(chain.value())}`;
      throw damaged(this.file, `its end, ${formatZxid(end.zxid)}, chain ${formatChain(end.chain)}`, found);
    }
    if (count !== entryCount || bytesInAll !== frameBytes) {
      throw damaged(this.file, `${entryCount} entries`, `${count}, of ${bytesInAll} bytes and not ${frameBytes}`);
    }
    this.#index ??= this.#readIndex();
  }

  [Symbol.dispose](): void {
    const handle = this.#handle;
    this.#handle = undefined;
    if (handle !== undefined) closeSync(handle);
  }

  #readFooter(): ArchiveFooter {
    const { file } = this;
    const size = this.#size;
    if (size < HEAD.length + TRAILER_BYTES) throw damaged(file, "its first bytes", `a file of ${size} bytes`);
    const head = this.#read({ at: 0, length: HEAD.length }, "its first bytes");
    if (!head.equals(HEAD)) throw damaged(file, "its first bytes", "they are not those of a file of the archive");
    const trailer = this.#read({ at: size - TRAILER_BYTES, length: TRAILER_BYTES }, "its last bytes");
    const length = footerLength(trailer, file, size);
    const footer = decodeFooter(this.#read({ at: size - TRAILER_BYTES - length, length }, "the footer"), trailer, file);
    const { blockCount, pairCount, table, index } = footer;
    const isPossible =
      blockCount >= 0 &&
      blockCount <= BLOCKS_MAX &&
      pairCount >= 0 &&
      pairCount <= PAIRS_MAX &&
      table.at + table.length === index.at &&
      index.at + index.length + length + TRAILER_BYTES === size;
    if (!isPossible) throw damaged(file, "the footer", `${blockCount} blocks and an index at byte ${index.at}`);
    return footer;
  }

  #readTable(): readonly ArchiveBlock[] {
    const { blockCount, table } = this.footer;
    const rows = this.#unpack(table, blockCount * ROW_BYTES, "the table of blocks");
    return Array.from({ length: blockCount }, (_, number) => {
      const at = number * ROW_BYTES;
      const frameBytes = rows.readUInt32LE(at + 8);
      // What it is unpacked to takes that much memory.
      if (frameBytes > BLOCK_FRAMES_MAX) throw damaged(this.file, `block ${number}`, `${frameBytes} bytes of frames`);
      return {
        at: rows.readUInt32LE(at),
        length: rows.readUInt32LE(at + 4),
        frameBytes,
        first: rows.readDoubleLE(at + 12) as Zxid,
      };
    });
  }

  #readIndex(): Buffer {
    const { index, pairCount } = this.footer;
    return this.#unpack(index, pairCount * PAIR_BYTES, "the index");
  }

  #walkBlock(number: number, after: Zxid | 0, sink: EntrySink): void {
    const block = this.blocks[number];
    const place = `block ${number}`;
    if (block === undefined) throw damaged(this.file, place, `${this.blocks.length} blocks`);
    const frames = this.#unpack(block, block.frameBytes, place);
    for (let at = 0; at < frames.length; ) {
      const start = at + FRAME_HEADER_BYTES;
      const end = start <= frames.length ? start + frameLength(frames, at) : Number.POSITIVE_INFINITY;
      if (end > frames.length) throw damaged(this.file, place, `an entry that continues behind byte ${frames.length}`);
      const zxid = frameZxid(frames, at);
      if (zxid > after) sink(zxid, frames, start, end);
      at = end;
    }
  }

  #unpack(extent: Extent, length: number, place: string): Buffer {
    const content = unpacked(this.#read(extent, place), length);
    if (typeof content === "string") throw damaged(this.file, place, content);
    return content;
  }

  #read({ at, length }: Extent, place: string): Buffer {
    if (at < 0 || length < 0 || at + length > this.#size) {
      throw damaged(this.file, place, `bytes ${at} to ${at + length} of ${this.#size}`);
    }
    this.#handle ??= openSync(this.file, "r");
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let from = 0; from < length; ) {
      const count = readSync(this.#handle, bytes, from, length - from, at + from);
      if (count === 0) throw damaged(this.file, place, `the file ends at byte ${at + from}`);
      from += count;
    }
    return bytes;
  }

  #verifySum(): void {
    const { index, sha256 } = this.footer;
    const end = index.at + index.length;
    const hash = createHash("sha256");
    for (let at = 0; at < end; at += READ_BYTES) {
      hash.update(this.#read({ at, length: Math.min(READ_BYTES, end - at) }, "its content"));
    }
    const found = hash.digest("hex");
    if (found !== sha256) throw damaged(this.file, `its SHA-256, ${sha256}`, found);
  }
}
