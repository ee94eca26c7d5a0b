import type { DataTree } from "@zooid/data-tree";
import { type ByteSlice, OpCode, type Request } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";

/** Shorter data are not looked up. */
const SMALL_BYTES = 1024;
/** The estimate for an entry of an access list. */
const LISTED_ENTRY_BYTES = 64;

/**
 * Roughly the bytes of the answer to a read without its header, if it were given now. The decoder
 * has read the request's body.
 */
export function answerBytesOf(
  tree: DataTree,
  { largestWriteBytes, session }: Connection,
  { op, path }: Request,
): number {
  switch (op) {
    case OpCode.GET_DATA: {
      // An unanswered write of the same connection may make it as large as itself.
      const largest = Math.max(tree.dataBytesMax, largestWriteBytes);
      if (largest <= SMALL_BYTES) return largest;
      return Math.max(largestWriteBytes, dataLengthAt(tree, path));
    }
    case OpCode.GET_CHILDREN:
    case OpCode.GET_CHILDREN2:
      return childCountAt(tree, path) * tree.listedNameBytesMax;
    case OpCode.GET_EPHEMERALS:
      if (session === undefined || tree.ephemeralCountOf(session.idHigh, session.idLow) === 0) return 0;
      return Number.POSITIVE_INFINITY;
    case OpCode.GET_ACL:
      return aclLengthAt(tree, path) * LISTED_ENTRY_BYTES;
    case OpCode.GET_CHILDREN_PAGE:
    case OpCode.GET_PAST:
    case OpCode.GET_CHANGES:
    case OpCode.MULTI_READ:
    case OpCode.SET_WATCHES:
    case OpCode.SET_WATCHES2:
      return Number.POSITIVE_INFINITY;
    default:
      return 0;
  }
}

function dataLengthAt(tree: DataTree, { bytes, start, end }: Readonly<ByteSlice>): number {
  const node = tree.find(bytes, start, end);
  return node === 0 ? 0 : tree.dataLength(node);
}

function childCountAt(tree: DataTree, { bytes, start, end }: Readonly<ByteSlice>): number {
  const node = tree.find(bytes, start, end);
  return node === 0 ? 0 : tree.childCount(node);
}

function aclLengthAt(tree: DataTree, { bytes, start, end }: Readonly<ByteSlice>): number {
  const node = tree.find(bytes, start, end);
  return node === 0 ? 0 : tree.view(node).acl.length;
}
