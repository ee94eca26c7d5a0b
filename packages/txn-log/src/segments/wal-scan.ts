import { closeSync, fsyncSync, openSync, readSync, writeSync } from "node:fs";

/**
 * Reads a WAL frame by frame, without SQLite, to tell a tear from damage.
 *
 * ```
 * header   0 magic 0x377f0682 (sums over little-endian words) or ..83 (big-endian) · 4 version · 8 page size · 12 checkpoint count
 *         16 salt u64 · 24 sum of 0..24, two u32
 * frame    0 page number · 4 size of the database in pages if the frame ends a commit, else 0 · 8 salt u64 · 16 rolling sum, two u32
 *         24 the page
 * ```
 *
 * All fields are big-endian. The rolling sum of a frame covers the frame before it: so a frame
 * behind a bad one can be checked too, from the sum that the bad one's header states. Source: "The
 * Write-Ahead Log File", SQLite's file format, section 4.
 *
 * SQLite ends a WAL at the first frame that is not whole and reports no error. In a segment every
 * commit is synced before the next one begins, so a power cut can tear the last commit only. A
 * whole commit behind the bad frame's own one is proof of damage: what SQLite would hide was
 * acknowledged.
 */
export interface WalScan extends WalMark {
  /** 0 for a WAL that was never begun. */
  readonly pageBytes: number;
  readonly commitCount: number;
  /** The last frame slot that holds a frame of this WAL, whole or not. */
  readonly lastFrame: number;
  readonly tail: "whole" | "torn" | "damaged";
}

/** How far a WAL is written. */
export interface WalMark {
  /** The header's random salt, new each time the WAL restarts; 0 for a WAL that was never begun. */
  readonly salt: bigint;
  /** Frames of whole commits, which SQLite shows. */
  readonly frameCount: number;
}

export const NO_WAL: WalMark = { salt: 0n, frameCount: 0 };
export const WAL_HEADER_BYTES = 32;
const SALT_AT = 16;
export const FRAME_HEADER_BYTES = 24;

/** How many bytes of a WAL its whole commits take, without its header. */
export function wholeBytes({ frameCount, pageBytes }: Pick<WalScan, "frameCount" | "pageBytes">): number {
  return frameCount * (FRAME_HEADER_BYTES + pageBytes);
}

const MAGIC = 0x377f0682;
const PAGE_BYTES_MIN = 512;
const PAGE_BYTES_MAX = 65_536;
/** The smallest unit that a disk writes whole. */
const SECTOR_BYTES = 512;
const PIECE_BYTES = 1024 * 1024;

export const NEVER_BEGUN: WalScan = { pageBytes: 0, ...NO_WAL, commitCount: 0, lastFrame: 0, tail: "whole" };

/** Scans a WAL that no connection writes to. */
export function scanWal(file: string): WalScan {
  const steps = scanSteps(file);
  for (;;) {
    const { value, done } = steps.next();
    if (done === true) return value;
  }
}

/** As {@link scanWal}, in steps of a mebibyte at most. Yields the bytes of each. */
export function* scanSteps(file: string): Generator<number, WalScan> {
  const handle = openSync(file, "r");
  try {
    const header = Buffer.alloc(WAL_HEADER_BYTES);
    const read = readSync(handle, header, 0, WAL_HEADER_BYTES, 0);
    if (read < WAL_HEADER_BYTES || header.every((byte) => byte === 0)) return NEVER_BEGUN;
    // SQLite syncs the header before the first frame, and it lies within one sector: no power cut
    // leaves half of it.
    if (!isWholeHeader(header)) return { ...NEVER_BEGUN, tail: "damaged" };
    return yield* new FrameWalk(handle, header).run();
  } finally {
    closeSync(handle);
  }
}

/**
 * Overwrites the frames of a torn commit, so that none of them is met behind the commits to come.
 */
export function eraseTear(file: string, scan: WalScan): void {
  const handle = openSync(file, "r+");
  try {
    const frameBytes = FRAME_HEADER_BYTES + scan.pageBytes;
    const zeros = Buffer.alloc(FRAME_HEADER_BYTES);
    // A crash between two of these writes leaves a smaller part of the same commit, which is a tear
    // again.
    for (let frame = scan.frameCount + 1; frame <= scan.lastFrame; frame++) {
      writeSync(handle, zeros, 0, FRAME_HEADER_BYTES, WAL_HEADER_BYTES + (frame - 1) * frameBytes);
    }
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** The salt of a WAL that has begun. */
export function readSalt(file: string): bigint {
  const handle = openSync(file, "r");
  try {
    const salt = Buffer.alloc(8);
    readSync(handle, salt, 0, salt.length, SALT_AT);
    return salt.readBigUInt64BE(0);
  } finally {
    closeSync(handle);
  }
}

function isWholeHeader(header: Buffer): boolean {
  if ((header.readUInt32BE(0) & ~1) >>> 0 !== MAGIC) return false;
  const pageBytes = header.readUInt32BE(8);
  if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX || (pageBytes & (pageBytes - 1)) !== 0) return false;
  const sum = new RollingSum(header);
  sum.add(header, 0, 24);
  return sum.equals(header, 24);
}

/** One walk over all frame slots of a WAL. */
class FrameWalk {
  readonly #handle: number;
  readonly #pageBytes: number;
  readonly #salt: bigint;
  readonly #sum: RollingSum;
  #frame = 0;
  #frameCount = 0;
  #commitCount = 0;
  #lastFrame = 0;
  /** A frame was not whole. */
  #isBroken = false;
  /** The frame before this one has the WAL's salt, so its sum may be rolled on. */
  #isSeeded = true;
  /** Behind the bad frame: a commit ended, and every frame since is whole. */
  #isInLaterCommit = false;
  #isDamaged = false;

  constructor(handle: number, header: Buffer) {
    this.#handle = handle;
    this.#pageBytes = header.readUInt32BE(8);
    this.#salt = header.readBigUInt64BE(SALT_AT);
    this.#sum = new RollingSum(header);
    this.#sum.set(header, 24);
  }

  *run(): Generator<number, WalScan> {
    const frameBytes = FRAME_HEADER_BYTES + this.#pageBytes;
    const piece = Buffer.allocUnsafeSlow(Math.max(1, Math.floor(PIECE_BYTES / frameBytes)) * frameBytes);
    let at = WAL_HEADER_BYTES;
    for (;;) {
      const read = readSync(this.#handle, piece, 0, piece.length, at);
      for (let start = 0; start + FRAME_HEADER_BYTES <= read; start += frameBytes) {
        this.#take(piece, start, Math.min(read, start + frameBytes));
      }
      if (read < piece.length) break;
      at += read;
      yield read;
    }
    return {
      pageBytes: this.#pageBytes,
      salt: this.#salt,
      frameCount: this.#frameCount,
      commitCount: this.#commitCount,
      lastFrame: this.#lastFrame,
      tail: this.#isDamaged ? "damaged" : this.#lastFrame > this.#frameCount ? "torn" : "whole",
    };
  }

  #take(bytes: Buffer, start: number, end: number): void {
    this.#frame++;
    const isOurs = bytes.readBigUInt64BE(start + 8) === this.#salt;
    if (isOurs) this.#lastFrame = this.#frame;
    const isWhole = isOurs && this.#isSeeded && this.#isComplete(start, end) && this.#rollsOn(bytes, start);
    const endsCommit = isOurs && (isWhole || this.#hasAtomicHeader()) && bytes.readUInt32BE(start + 4) !== 0;
    if (this.#isBroken) {
      this.#isInLaterCommit &&= isWhole;
      if (this.#isInLaterCommit && endsCommit) this.#isDamaged = true;
    } else if (!isWhole) {
      this.#isBroken = true;
    } else if (endsCommit) {
      this.#frameCount = this.#frame;
      this.#commitCount++;
    }
    this.#isSeeded = isOurs;
    if (isOurs) this.#sum.set(bytes, start + 16);
    if (this.#isBroken && endsCommit) this.#isInLaterCommit = true;
  }

  #isComplete(start: number, end: number): boolean {
    return end - start === FRAME_HEADER_BYTES + this.#pageBytes;
  }

  /**
   * A torn write may leave the end of an earlier commit beside our salt, but only where a sector
   * ends between them.
   */
  #hasAtomicHeader(): boolean {
    const at = WAL_HEADER_BYTES + (this.#frame - 1) * (FRAME_HEADER_BYTES + this.#pageBytes);
    return (at % SECTOR_BYTES) + FRAME_HEADER_BYTES <= SECTOR_BYTES;
  }

  #rollsOn(bytes: Buffer, start: number): boolean {
    this.#sum.add(bytes, start, 8);
    this.#sum.add(bytes, start + FRAME_HEADER_BYTES, this.#pageBytes);
    return this.#sum.equals(bytes, start + 16);
  }
}

/** SQLite's sum of words: each half takes in the other. */
class RollingSum {
  readonly #isLittleEndian: boolean;
  #a = 0;
  #b = 0;

  constructor(header: Buffer) {
    this.#isLittleEndian = header.readUInt32BE(0) === MAGIC;
  }

  set(bytes: Buffer, at: number): void {
    this.#a = bytes.readInt32BE(at);
    this.#b = bytes.readInt32BE(at + 4);
  }

  equals(bytes: Buffer, at: number): boolean {
    return bytes.readInt32BE(at) === this.#a && bytes.readInt32BE(at + 4) === this.#b;
  }

  /** @param length a multiple of 8 */
  add(bytes: Buffer, start: number, length: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset + start, length);
    const isLittleEndian = this.#isLittleEndian;
    let a = this.#a;
    let b = this.#b;
    for (let at = 0; at < length; at += 8) {
      a = (a + view.getInt32(at, isLittleEndian) + b) | 0;
      b = (b + view.getInt32(at + 4, isLittleEndian) + a) | 0;
    }
    this.#a = a;
    this.#b = b;
  }
}
