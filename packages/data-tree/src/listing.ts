import { NO_NODE } from "./node-row.ts";
import type { NodeStore } from "./node-store.ts";

/** In front of each name of a listing. */
const NAME_LENGTH_BYTES = 4;

/**
 * What the names of a node's children take in a listing, each with its length.
 *
 * @param bytesMax how far to count
 * @returns Infinity when it is more than that
 */
export function listingBytes(store: NodeStore, node: number, bytesMax: number): number {
  let bytes = store.childCount(node) * NAME_LENGTH_BYTES;
  for (let child = store.firstChild(node); child !== NO_NODE && bytes <= bytesMax; child = store.nextSibling(child)) {
    bytes += store.nameLength(child);
  }
  return bytes <= bytesMax ? bytes : Number.POSITIVE_INFINITY;
}

/** What one name takes in a listing at most, with its length. */
export function listedNameBytesMax(store: NodeStore): number {
  return NAME_LENGTH_BYTES + store.nameBytesMax;
}

/** Whether a node's children can be listed in so many bytes. They are walked only where the longest names might not fit. */
export function isListable(store: NodeStore, node: number, bytesMax: number): boolean {
  if (store.childCount(node) * listedNameBytesMax(store) <= bytesMax) return true;
  return listingBytes(store, node, bytesMax) <= bytesMax;
}
