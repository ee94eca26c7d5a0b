import { crc32 } from "node:zlib";
import { STAT_BYTES, setSlice } from "@zooid/model";
import type { StateNode } from "./state-store.ts";

/**
 * A node as one BLOB: to read a million rows the number of columns and of buffers is what costs (README).
 *
 * ```
 *  0 CRC-32 of all that follows · 4 id f64 · 12 parent id f64 · 20 ACL id u32 · 24 name length u32 · 28 has data u8 · 29 zero
 *  32 stat (68) · 100 name · data
 * ```
 *
 * The id stands in the sum, so that a row which turns up in another's place is noticed too.
 */
export interface NodeRow {
  readonly id: number;
  readonly parentId: number;
  readonly name: Uint8Array;
  data: Uint8Array | undefined;
  readonly stat: Buffer;
  aclId: number;
}

const STAT_AT = 32;
const NAME_AT = STAT_AT + STAT_BYTES;

let scratch = Buffer.allocUnsafeSlow(4096);

/** The bytes are good until the next call. */
export function packNode(row: NodeRow): Buffer {
  const nameEnd = NAME_AT + row.name.length;
  const size = nameEnd + (row.data?.length ?? 0);
  if (size > scratch.length) scratch = Buffer.allocUnsafeSlow(2 * size);
  const bytes = scratch.subarray(0, size);
  bytes.writeDoubleBE(row.id, 4);
  bytes.writeDoubleBE(row.parentId, 12);
  bytes.writeUInt32BE(row.aclId, 20);
  bytes.writeUInt32BE(row.name.length, 24);
  bytes.writeUInt32BE(row.data === undefined ? 0 : 1 << 24, 28);
  row.stat.copy(bytes, STAT_AT);
  bytes.set(row.name, NAME_AT);
  if (row.data !== undefined) bytes.set(row.data, nameEnd);
  bytes.writeUInt32BE(crc32(bytes.subarray(4)), 0);
  return bytes;
}

/** Whether a row is what was once packed. */
export function isWhole(bytes: Buffer): boolean {
  if (bytes.length < NAME_AT || bytes.readUInt32BE(0) !== crc32(bytes.subarray(4))) return false;
  return NAME_AT + bytes.readUInt32BE(24) <= bytes.length;
}

/** A row to be changed; its parts are copies. */
export function unpackNode(bytes: Buffer): NodeRow {
  const nameEnd = NAME_AT + bytes.readUInt32BE(24);
  return {
    id: bytes.readDoubleBE(4),
    parentId: bytes.readDoubleBE(12),
    aclId: bytes.readUInt32BE(20),
    name: bytes.subarray(NAME_AT, nameEnd),
    data: bytes[28] === 1 ? bytes.subarray(nameEnd) : undefined,
    stat: Buffer.from(bytes.subarray(STAT_AT, NAME_AT)),
  };
}

/** Fills a reused node from a row; returns the row's ACL id. */
export function viewNode(bytes: Buffer, node: StateNode): number {
  const nameEnd = NAME_AT + bytes.readUInt32BE(24);
  node.id = bytes.readDoubleBE(4);
  node.parentId = bytes.readDoubleBE(12);
  setSlice(node.stat, bytes, STAT_AT, NAME_AT);
  setSlice(node.name, bytes, NAME_AT, nameEnd);
  node.hasData = bytes[28] === 1;
  setSlice(node.data, bytes, nameEnd, bytes.length);
  return bytes.readUInt32BE(20);
}
