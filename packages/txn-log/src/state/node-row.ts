import { crc32 } from "node:zlib";
import { emptySlice, STAT_BYTES, StatOffset, setSlice } from "@zooid/model/storage";
import type { LiveNode } from "./live-tree.ts";
import type { StateNode } from "./state-store.ts";

/**
 * A node as one BLOB: to read a million rows the number of columns and of buffers is what costs
 * (README).
 *
 * ```
 *  0 CRC-32 of all that follows · 4 id f64 · 12 parent id f64 · 20 ACL id u32 · 24 name length u32 · 28 has data u8 · 29 zero
 *  32 stat (68) · 100 name · data, as long as the stat says
 * ```
 *
 * The id stands in the sum, so that a row which turns up in another's place is noticed too.
 */
export const RowOffset = { id: 4, parentId: 12, aclId: 20, nameLength: 24, hasData: 28, stat: 32, name: 100 } as const;

/** Length of the row that begins at `at`. */
export function rowLength(bytes: Buffer, at: number): number {
  return dataStart(bytes, at) + bytes.readInt32BE(at + RowOffset.stat + StatOffset.dataLength) - at;
}

/** Where the data begins of the row that begins at `at`. */
export function dataStart(bytes: Buffer, at: number): number {
  return at + RowOffset.name + bytes.readUInt32BE(at + RowOffset.nameLength);
}

export function setHasData(bytes: Buffer, at: number, hasData: boolean): void {
  bytes.writeUInt32BE(hasData ? 1 << 24 : 0, at + RowOffset.hasData);
}

/** Puts its sum into the row that begins at `at`; returns a view of it. */
export function sealRow(bytes: Buffer, at: number): Buffer {
  const row = bytes.subarray(at, at + rowLength(bytes, at));
  row.writeUInt32BE(crc32(row.subarray(RowOffset.id)), 0);
  return row;
}

/**
 * Whether a row is what was once sealed. A flipped bit in the table makes a value of another type,
 * or none, of a BLOB.
 */
export function isWhole(row: unknown): row is Buffer {
  if (!Buffer.isBuffer(row) || row.length < RowOffset.name || row.readUInt32BE(0) !== crc32(row.subarray(RowOffset.id)))
    return false;
  return rowLength(row, 0) === row.length;
}

/** A node to be filled by {@link viewNode}. */
export function newStateNode(): StateNode {
  return {
    id: 0,
    parentId: 0,
    name: emptySlice(),
    hasData: false,
    data: emptySlice(),
    stat: emptySlice(),
    acl: [],
  };
}

/** Fills a reused node from a row; returns the row's ACL id. */
export function viewNode(row: Buffer, node: StateNode): number {
  const nameEnd = dataStart(row, 0);
  node.id = row.readDoubleBE(RowOffset.id);
  node.parentId = row.readDoubleBE(RowOffset.parentId);
  setSlice(node.stat, row, RowOffset.stat, RowOffset.stat + STAT_BYTES);
  setSlice(node.name, row, RowOffset.name, nameEnd);
  node.hasData = row[RowOffset.hasData] === 1;
  setSlice(node.data, row, nameEnd, row.length);
  return row.readUInt32BE(RowOffset.aclId);
}

/** A node of a tree as a row of its own memory. */
export function encodeRow(node: Readonly<LiveNode>, aclId: number): Uint8Array<ArrayBuffer> {
  const { name, data, stat } = node;
  const row = Buffer.allocUnsafeSlow(RowOffset.name + name.length + (data?.length ?? 0));
  row.fill(0, 0, RowOffset.stat);
  row.writeDoubleBE(node.id, RowOffset.id);
  row.writeDoubleBE(node.parentId, RowOffset.parentId);
  row.writeUInt32BE(aclId, RowOffset.aclId);
  row.writeUInt32BE(name.length, RowOffset.nameLength);
  setHasData(row, 0, data !== null);
  row.set(stat, RowOffset.stat);
  row.set(name, RowOffset.name);
  if (data !== null) row.set(data, RowOffset.name + name.length);
  sealRow(row, 0);
  return row;
}

/** A row without data, for a node that every tree is made with. */
export function plainRow(node: {
  readonly id: number;
  readonly parentId: number;
  readonly name: string;
  readonly aclId: number;
  readonly aversion: number;
}): Buffer {
  const name = Buffer.from(node.name);
  const row = Buffer.alloc(RowOffset.name + name.length);
  row.writeDoubleBE(node.id, RowOffset.id);
  row.writeDoubleBE(node.parentId, RowOffset.parentId);
  row.writeUInt32BE(node.aclId, RowOffset.aclId);
  row.writeUInt32BE(name.length, RowOffset.nameLength);
  setHasData(row, 0, true);
  row.writeInt32BE(node.aversion, RowOffset.stat + StatOffset.aversion);
  name.copy(row, RowOffset.name);
  return sealRow(row, 0);
}
