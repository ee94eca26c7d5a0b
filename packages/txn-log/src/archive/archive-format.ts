import { crc32 } from "node:zlib";
import { parseZxid, type Zxid } from "@zooid/model/storage";
import { type Chain, formatChain } from "../log/chain.ts";
import type { LogPosition } from "../log/txn-log.ts";
import { StoreError } from "../store/store-error.ts";

/**
 * A file of the archive: committed entries of the log, compressed, with an index by path. It is
 * written once, and never changed.
 *
 * ```
 * head      "zooid archive 1\n"
 * blocks    zstd each: frames as in the log (zxid u64, length u32, record), about 32 KiB of them
 * table     zstd: a row for each block (offset u32, length u32, frames' length u32, first zxid f64), little-endian
 * index     zstd: the hashes of paths, ascending (u32 each), then the block of each (u16 each), little-endian
 * footer    JSON: {@link ArchiveFooter}
 * trailer   the footer's length (u32 BE), its CRC-32 (u32 BE), "zooidend"
 * ```
 *
 * The index has each path that an entry changes, and for creates and deletes the parent's path with
 * a slash behind it. Two paths may have one hash: a reader compares paths.
 */
export const ARCHIVE_FORMAT = 1;

const ENDING = "zooidend";
export const HEAD: Buffer = Buffer.from(`zooid archive ${ARCHIVE_FORMAT}\n`, "latin1");
export const TRAILER_BYTES: number = 8 + ENDING.length;
const FOOTER_BYTES_MAX = 64 * 1024;

/** Bytes of one row of the table. */
export const ROW_BYTES = 20;
/** Bytes of one pair of the index. */
export const PAIR_BYTES = 6;
/** A block's number has two bytes in the index. */
export const BLOCKS_MAX = 65_535;

/** Frames of one block: about 32 KiB, or one entry, which fits into a frame between servers. */
export const BLOCK_FRAMES_MAX: number = 65 * 1024 * 1024;

/** A part of the file. */
export interface Extent {
  readonly at: number;
  readonly length: number;
}

/** The facts that a file has of itself. */
export interface ArchiveFooter {
  readonly format: number;
  readonly ensembleId: string;
  /** The entries after this position... */
  readonly after: LogPosition;
  /** ...and up to this one. */
  readonly end: LogPosition;
  /** The tree's digest at the end, as two signed halves; both 0 where it is not known. */
  readonly digestHigh: number;
  readonly digestLow: number;
  /** The smallest and the largest time of an entry, in ms since 1970. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly entryCount: number;
  /** Bytes of all frames, before compression. */
  readonly frameBytes: number;
  /** The seed of the hashes in the index. */
  readonly seed: number;
  readonly blockCount: number;
  readonly pairCount: number;
  readonly table: Extent;
  readonly index: Extent;
  /** The sum of everything before the footer, in hexadecimal digits. */
  readonly sha256: string;
}

/** A file's footer and trailer. */
export function encodeFooter(footer: ArchiveFooter): Buffer {
  const { after, end, table, index, ...same } = footer;
  const fields = {
    ...same,
    after: positionText(after),
    end: positionText(end),
    tableAt: table.at,
    tableLength: table.length,
    indexAt: index.at,
    indexLength: index.length,
  };
  const text = Buffer.from(JSON.stringify(fields), "utf8");
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32BE(text.length, 0);
  trailer.writeUInt32BE(crc32(text), 4);
  trailer.write(ENDING, 8, "latin1");
  return Buffer.concat([text, trailer]);
}

/** How long a footer is, from the file's last bytes. */
export function footerLength(trailer: Buffer, file: string, size: number): number {
  const length = trailer.readUInt32BE(0);
  const isWhole = trailer.toString("latin1", 8) === ENDING;
  if (!isWhole) throw damaged(file, "its last bytes", "the file is cut short");
  if (length > FOOTER_BYTES_MAX || length + TRAILER_BYTES + HEAD.length > size) {
    throw damaged(file, "its last bytes", `a footer of ${length} bytes in a file of ${size}`);
  }
  return length;
}

export function decodeFooter(text: Buffer, trailer: Buffer, file: string): ArchiveFooter {
  if (crc32(text) !== trailer.readUInt32BE(4)) throw damaged(file, "the footer", "its checksum is another one");
  const footer = fieldsIn(text, file);
  const number = (name: string): number => {
    const value = footer[name];
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw damaged(file, "the footer", `${name} is ${JSON.stringify(value)}`);
  };
  const format = number("format");
  if (format > ARCHIVE_FORMAT)
    throw new StoreError({ code: "NEWER_FORMAT", file, known: ARCHIVE_FORMAT, found: format });
  const extent = (name: string): Extent => ({ at: number(`${name}At`), length: number(`${name}Length`) });
  return {
    format,
    ensembleId: String(footer["ensembleId"]),
    after: parsePosition(String(footer["after"]), file),
    end: parsePosition(String(footer["end"]), file),
    digestHigh: number("digestHigh"),
    digestLow: number("digestLow"),
    firstMs: number("firstMs"),
    lastMs: number("lastMs"),
    entryCount: number("entryCount"),
    frameBytes: number("frameBytes"),
    seed: number("seed"),
    blockCount: number("blockCount"),
    pairCount: number("pairCount"),
    table: extent("table"),
    index: extent("index"),
    sha256: String(footer["sha256"]),
  };
}

function fieldsIn(text: Buffer, file: string): Readonly<Record<string, unknown>> {
  try {
    const fields: unknown = JSON.parse(text.toString("utf8"));
    if (typeof fields === "object" && fields !== null) return fields as Readonly<Record<string, unknown>>;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  throw damaged(file, "the footer", "it has no fields");
}

/** How much of a file's end {@link parseArchiveTail} needs. */
export const TAIL_BYTES: number = FOOTER_BYTES_MAX + TRAILER_BYTES;

/**
 * The footer in the last bytes of a file.
 *
 * @param tail the last {@link TAIL_BYTES}, or all of a shorter file
 * @throws StoreError `DAMAGED` or `NEWER_FORMAT`
 */
export function parseArchiveTail(
  tail: Buffer,
  { file, size }: { readonly file: string; readonly size: number },
): ArchiveFooter {
  if (tail.length < TRAILER_BYTES) throw damaged(file, "its last bytes", `a file of ${size} bytes`);
  const trailer = tail.subarray(tail.length - TRAILER_BYTES);
  const length = footerLength(trailer, file, size);
  if (length > tail.length - TRAILER_BYTES) throw damaged(file, "its last bytes", `a footer of ${length} bytes`);
  return decodeFooter(tail.subarray(tail.length - TRAILER_BYTES - length, tail.length - TRAILER_BYTES), trailer, file);
}

/** A position as files of the archive have it. */
export function positionText({ zxid, chain }: LogPosition): string {
  return `${zxid.toString(16)} ${formatChain(chain)}`;
}

/** @throws StoreError `DAMAGED` */
export function parsePosition(text: string, file: string): LogPosition {
  const [, digits = "", chain = ""] = /^([0-9a-f]{1,16}) ([0-9a-f]{16})$/.exec(text) ?? [];
  const zxid = zxidOf(digits);
  if (zxid === undefined) throw damaged(file, "the footer", `the position ${JSON.stringify(text)}`);
  return { zxid, chain: BigInt(`0x${chain}`) as Chain };
}

function zxidOf(digits: string): Zxid | undefined {
  try {
    return parseZxid(digits);
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

export function damaged(file: string, place: string, found: string): StoreError {
  return new StoreError({ code: "DAMAGED", file, place, found });
}

export interface ArchiveFileName {
  readonly after: Zxid;
  readonly end: Zxid;
}

const NAME = /^([0-9a-f]{16})-([0-9a-f]{16})$/;

/** The name of the file with the entries after a zxid and up to another one. */
export function archiveFileName(after: Zxid, end: Zxid): string {
  return `${zxidName(after)}-${zxidName(end)}`;
}

/** A zxid in a file's name: 16 hexadecimal digits. */
export function zxidName(zxid: Zxid): string {
  return zxid.toString(16).padStart(16, "0");
}

/** Undefined for another name. */
export function parseZxidName(name: string): Zxid | undefined {
  return /^[0-9a-f]{16}$/.test(name) ? zxidOf(name) : undefined;
}

/** Undefined for a name that no file of the archive has. */
export function parseArchiveFileName(name: string): ArchiveFileName | undefined {
  const [, first = "", last = ""] = NAME.exec(name) ?? [];
  const after = zxidOf(first);
  const end = zxidOf(last);
  return after === undefined || end === undefined || after >= end ? undefined : { after, end };
}
