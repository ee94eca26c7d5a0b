import { crc32 } from "node:zlib";
import { readableFormats, type Zxid } from "@zooid/model/storage";
import type { Chain } from "../log/chain.ts";
import type { EpochRange, LogPosition } from "../log/txn-log.ts";
import { SNAPSHOT_CHUNK_BYTES } from "../state/state-store.ts";
import { StoreError } from "../store/store-error.ts";

/**
 * A state as a stream of bytes that depends on nothing but the state: not on the file's pages, not
 * on the numbers that a file has given to access lists, not on how it was checkpointed.
 *
 * ```
 *  stream  "ZOOIDSNP" · record · record · …
 *  record  0 kind u8 · 1 length u32 · 5 body
 *          HEADER (JSON) · SESSION by id … · NODE by id, each access list as an ACL before the first node that has it … · TRAILER (JSON)
 *  chunk   0 CRC-32 of all that follows · 4 index u31, the top bit marks the last · 8 the next piece of the stream
 * ```
 *
 * Every chunk but the last is full, wherever a record ends, so that equal streams are equal chunk
 * for chunk. The trailer's sum is the CRC-32 of the whole stream before it.
 */
export const SNAPSHOT_MAGIC = "ZOOIDSNP";
export const CHUNK_BYTES: number = SNAPSHOT_CHUNK_BYTES;
export const CHUNK_HEADER_BYTES = 8;
export const RECORD_HEADER_BYTES = 5;
/**
 * The greatest part of one record that a receiver gathers: well above the largest data that a
 * server can be configured to accept.
 */
export const RECORD_BYTES_MAX: number = 256 * 1024 * 1024;

export const SnapshotRecord = { HEADER: 1, SESSION: 2, ACL: 3, NODE: 4, TRAILER: 5 } as const;

/**
 * Bytes of a session's record before the password's hash: two halves of the id, and the timeout.
 */
export const SESSION_RECORD_BYTES = 12;

export interface SnapshotHeader {
  readonly format: number;
  readonly ensembleId: string;
  readonly position: LogPosition;
  readonly epochs: readonly EpochRange[];
  readonly digestHigh: number;
  readonly digestLow: number;
  readonly nextNodeId: number;
  /** The feature level in force there. */
  readonly level: number;
  readonly nodeCount: number;
  readonly sessionCount: number;
}

export interface SnapshotTrailer {
  /** As counted on the way. */
  readonly nodeCount: number;
  readonly sessionCount: number;
  readonly digestHigh: number;
  readonly digestLow: number;
  readonly sum: number;
}

const LAST = 0x8000_0000;

/** Whether a chunk says of itself that it is the last. */
export function isLastChunk(chunk: Uint8Array): boolean {
  return ((chunk[4] ?? 0) & 0x80) !== 0;
}

export function sealChunk(chunk: Buffer, index: number, isLast: boolean): void {
  chunk.writeUInt32BE(index + (isLast ? LAST : 0), 4);
  chunk.writeUInt32BE(crc32(chunk.subarray(4)), 0);
}

/**
 * A chunk's piece of the stream; throws when the chunk is not the expected one, or not what was
 * sealed.
 */
export function openChunk(chunk: Buffer, index: number): Buffer {
  const place = `chunk ${index}`;
  if (chunk.length < CHUNK_HEADER_BYTES) throw refused(place, `${chunk.length} bytes`);
  if (chunk.length > CHUNK_BYTES) throw refused(place, `${chunk.length} bytes, more than ${CHUNK_BYTES}`);
  if (chunk.readUInt32BE(0) !== crc32(chunk.subarray(4))) throw refused(place, "its sum does not match");
  const found = chunk.readUInt32BE(4) & ~LAST;
  if (found !== index) throw refused(place, `chunk ${found} came instead`);
  return chunk.subarray(CHUNK_HEADER_BYTES);
}

export function encodeHeader(header: SnapshotHeader): Buffer {
  const { position, epochs } = header;
  return Buffer.from(
    JSON.stringify({
      format: header.format,
      ensemble: header.ensembleId,
      zxid: position.zxid,
      chain: position.chain.toString(16),
      epochs: epochs.map(({ epoch, first, last }) => [epoch, first, last]),
      digest: [header.digestHigh, header.digestLow],
      nextNode: header.nextNodeId,
      level: header.level,
      nodes: header.nodeCount,
      sessions: header.sessionCount,
    }),
  );
}

export function decodeHeader(body: Buffer): SnapshotHeader {
  const fields = parse(body, "its header");
  const format = count(fields, "format");
  const known = readableFormats("snapshot");
  if (!known.includes(format)) {
    throw refused("its header", `format ${format}, where this version knows format ${known.join(" and ")}`);
  }
  const { ensemble, chain, epochs } = fields;
  if (typeof ensemble !== "string") throw refused("its header", "no ensemble");
  if (typeof chain !== "string" || !/^[0-9a-f]{1,16}$/.test(chain)) throw refused("its header", "no chain");
  if (!Array.isArray(epochs)) throw refused("its header", "no epochs");
  const [digestHigh, digestLow] = digest(fields, "its header");
  return {
    format,
    ensembleId: ensemble,
    position: { zxid: count(fields, "zxid") as Zxid, chain: BigInt(`0x${chain}`) as Chain },
    epochs: epochs.map(decodeEpoch),
    digestHigh,
    digestLow,
    nextNodeId: count(fields, "nextNode"),
    level: count(fields, "level"),
    nodeCount: count(fields, "nodes"),
    sessionCount: count(fields, "sessions"),
  };
}

export function encodeTrailer(trailer: SnapshotTrailer): Buffer {
  const { nodeCount, sessionCount, digestHigh, digestLow, sum } = trailer;
  return Buffer.from(
    JSON.stringify({ nodes: nodeCount, sessions: sessionCount, digest: [digestHigh, digestLow], sum }),
  );
}

export function decodeTrailer(body: Buffer): SnapshotTrailer {
  const fields = parse(body, "its trailer");
  const [digestHigh, digestLow] = digest(fields, "its trailer");
  return {
    nodeCount: count(fields, "nodes"),
    sessionCount: count(fields, "sessions"),
    digestHigh,
    digestLow,
    sum: count(fields, "sum"),
  };
}

export function refused(place: string, found: string): StoreError {
  return new StoreError({ code: "SNAPSHOT_REFUSED", place, found });
}

type Fields = Readonly<Record<string, unknown>>;

function parse(body: Buffer, place: string): Fields {
  try {
    const fields: unknown = JSON.parse(body.toString());
    if (typeof fields === "object" && fields !== null) return fields as Fields;
  } catch {
    // Reported below.
  }
  throw refused(place, "no JSON object");
}

function count(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw refused("header or trailer", `${name} is ${String(value)}`);
}

function digest({ digest: halves }: Fields, place: string): readonly [high: number, low: number] {
  const [high, low]: unknown[] = Array.isArray(halves) ? halves : [];
  if (isHalf(high) && isHalf(low)) return [high, low];
  throw refused(place, "no digest");
}

function isHalf(value: unknown): value is number {
  return typeof value === "number" && value === (value | 0);
}

function decodeEpoch(row: unknown): EpochRange {
  const [epoch, first, last]: unknown[] = Array.isArray(row) ? row : [];
  if (typeof epoch === "number" && typeof first === "number" && typeof last === "number") return { epoch, first, last };
  throw refused("its header", "an epoch without its counters");
}
