import { createHash, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import {
  assert,
  copyBytes,
  FRAME_HEADER_BYTES,
  type TxnDecoder,
  writeFrameHeader,
  type Zxid,
} from "@zooid/model/storage";
import { syncDirectoryOf } from "../disk/sync-path.ts";
import { ChainCursor } from "../log/chain.ts";
import { BatchCursor } from "../log/entry-batch.ts";
import type { LogPosition } from "../log/txn-log.ts";
import {
  ARCHIVE_FORMAT,
  type ArchiveFooter,
  archiveFileName,
  BLOCKS_MAX,
  encodeFooter,
  HEAD,
  ROW_BYTES,
} from "./archive-format.ts";
import { PathIndexBuilder } from "./path-index.ts";
import { packed } from "./zstd.ts";

/**
 * Frames of one block; a block of one large entry has more. To begin and end a compression takes 35
 * µs, as long as to compress 10 KiB, and a reader unpacks a whole block for each entry of it.
 */
export const BLOCK_BYTES: number = 32 * 1024;
const WRITE_BYTES = 256 * 1024;
const FILE_MODE = 0o600;
/** The name of a file that is being written: an open removes it. */
export const UNFINISHED_FILE = "unfinished";

/** The state at the end of a file. */
export interface ArchiveMark {
  readonly zxid: Zxid;
  /** Bytes of the log since the mark before. */
  readonly bytes: number;
  /** Both 0 where it is not known. */
  readonly digestHigh: number;
  readonly digestLow: number;
}

/** Writes one file of the archive. Until its end it is in memory, compressed. */
export class ArchiveFileWriter {
  readonly after: LogPosition;
  readonly #index: PathIndexBuilder;
  readonly #seed: number = randomBytes(4).readUInt32LE();
  readonly #chain = new ChainCursor();
  readonly #batch = new BatchCursor();
  readonly #blocks: Buffer[] = [];
  #rows: Buffer = Buffer.alloc(ROW_BYTES * 64);
  #frames: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #framesEnd = 0;
  #firstInBlock: Zxid;
  #last: Zxid;
  #offset = HEAD.length;
  #entryCount = 0;
  #frameBytes = 0;
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = 0;

  /** @param after the entry before the first one, and the chain there */
  constructor(decoder: TxnDecoder, after: LogPosition) {
    this.after = after;
    this.#last = after.zxid;
    this.#firstInBlock = after.zxid;
    this.#chain.set(after.chain);
    this.#index = new PathIndexBuilder(decoder, this.#seed);
  }

  /** The last entry, and the chain there. */
  get end(): LogPosition {
    return { zxid: this.#last, chain: this.#chain.value() };
  }

  get last(): Zxid {
    return this.#last;
  }

  /** Bytes of the frames, before compression. */
  get frameBytes(): number {
    return this.#frameBytes;
  }

  /** Takes an entry; its bytes are the caller's again afterwards. */
  add(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    const size = FRAME_HEADER_BYTES + end - start;
    this.#makeRoom(size);
    if (this.#framesEnd === 0) this.#firstInBlock = zxid;
    writeFrameHeader(this.#frames, this.#framesEnd, zxid, end - start);
    copyBytes(bytes, start, end, this.#frames, this.#framesEnd + FRAME_HEADER_BYTES);
    this.#framesEnd += size;
    this.#note(zxid, bytes, start, end);
  }

  /**
   * Takes entries that lie as frames, one behind another, as {@link add} does.
   *
   * @returns how many there were
   */
  addFrames(bytes: Uint8Array, start: number, end: number): number {
    const batch = this.#batch;
    const before = this.#entryCount;
    batch.open(bytes, start, end);
    // Those from here on are of the present block, and are copied into it as one piece.
    let from = start;
    for (let at = start; batch.next(); at = batch.end) {
      if (this.#framesEnd + batch.end - from > BLOCK_BYTES) {
        this.#copyFrames(bytes, from, at);
        from = at;
        this.#makeRoom(batch.end - at);
      }
      if (this.#framesEnd === 0 && at === from) this.#firstInBlock = batch.zxid;
      this.#note(batch.zxid, bytes, batch.start, batch.end);
    }
    this.#copyFrames(bytes, from, end);
    return this.#entryCount - before;
  }

  #copyFrames(bytes: Uint8Array, start: number, end: number): void {
    copyBytes(bytes, start, end, this.#frames, this.#framesEnd);
    this.#framesEnd += end - start;
  }

  /** Ends the block if a frame does not fit any more. A larger frame has a block of its own. */
  #makeRoom(size: number): void {
    if (this.#framesEnd > 0 && this.#framesEnd + size > BLOCK_BYTES) this.#endBlock();
    if (size > this.#frames.length) this.#frames = Buffer.allocUnsafeSlow(size);
  }

  #note(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#chain.add(zxid, length, crc32(bytes.subarray(start, end)));
    this.#index.add(bytes, start, end);
    const { timeMs } = this.#index.header;
    this.#entryCount++;
    this.#frameBytes += FRAME_HEADER_BYTES + length;
    if (timeMs < this.#firstMs) this.#firstMs = timeMs;
    if (timeMs > this.#lastMs) this.#lastMs = timeMs;
    this.#last = zxid;
  }

  /**
   * Writes the file and syncs it.
   *
   * @param folder of the archive's log
   * @param mark the digest at the last entry
   */
  finish(folder: string, ensembleId: string, mark: ArchiveMark): ArchiveFooter {
    assert(mark.zxid === this.#last, "a file ends where the digest is known");
    if (this.#framesEnd > 0) this.#endBlock();
    const table = packed(this.#rows.subarray(0, this.#blocks.length * ROW_BYTES));
    const index = packed(this.#index.encode());
    const parts = [HEAD, ...this.#blocks, table, index];
    const sha256 = createHash("sha256");
    for (const part of parts) sha256.update(part);
    const footer: ArchiveFooter = {
      format: ARCHIVE_FORMAT,
      ensembleId,
      after: this.after,
      end: this.end,
      digestHigh: mark.digestHigh,
      digestLow: mark.digestLow,
      entryCount: this.#entryCount,
      frameBytes: this.#frameBytes,
      firstMs: this.#firstMs,
      lastMs: this.#lastMs,
      seed: this.#seed,
      blockCount: this.#blocks.length,
      pairCount: this.#index.pairCount,
      table: { at: this.#offset, length: table.length },
      index: { at: this.#offset + table.length, length: index.length },
      sha256: sha256.digest("hex"),
    };
    const unfinished = join(folder, UNFINISHED_FILE);
    writeWhole(unfinished, [...parts, encodeFooter(footer)]);
    renameSync(unfinished, join(folder, archiveFileName(footer.after.zxid, footer.end.zxid)));
    syncDirectoryOf(unfinished);
    return footer;
  }

  #endBlock(): void {
    const number = this.#blocks.length;
    assert(number < BLOCKS_MAX, "a file ends before its blocks have no numbers left");
    const block = packed(this.#frames.subarray(0, this.#framesEnd));
    const at = number * ROW_BYTES;
    if (at === this.#rows.length) this.#rows = Buffer.concat([this.#rows], 2 * this.#rows.length);
    this.#rows.writeUInt32LE(this.#offset, at);
    this.#rows.writeUInt32LE(block.length, at + 4);
    this.#rows.writeUInt32LE(this.#framesEnd, at + 8);
    this.#rows.writeDoubleLE(this.#firstInBlock, at + 12);
    this.#index.endBlock(number);
    this.#blocks.push(block);
    this.#offset += block.length;
    this.#framesEnd = 0;
    if (this.#frames.length > BLOCK_BYTES) this.#frames = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }
}

function writeWhole(file: string, parts: readonly Buffer[]): void {
  // Left by a write that failed, or by a crash.
  rmSync(file, { force: true });
  const handle = openSync(file, "wx", FILE_MODE);
  try {
    for (const part of parts) {
      for (let at = 0; at < part.length; ) at += writeSync(handle, part, at, Math.min(WRITE_BYTES, part.length - at));
    }
    fsyncSync(handle);
  } catch (cause) {
    rmSync(file, { force: true });
    throw cause;
  } finally {
    closeSync(handle);
  }
}
