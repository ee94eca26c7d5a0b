import type { ByteSlice } from "@zooid/model";
import { NO_NODE } from "../nodes/node-row.ts";
import type { NodeStore } from "../nodes/node-store.ts";
import { NAME_LENGTH_BYTES } from "./listed-bytes.ts";

/** The greatest number of bytes of one name in a listing, with its length. */
export function listedNameBytesMax(store: NodeStore): number {
  return NAME_LENGTH_BYTES + store.nameBytesMax;
}

/**
 * Fills a list with the next children of a node in the order of their names' bytes.
 *
 * @param after the last name before them, which need not exist; empty to begin
 * @returns whether no child follows them
 */
export function childrenAfter(
  store: NodeStore,
  node: number,
  after: Readonly<ByteSlice>,
  limit: number,
  into: number[],
): boolean {
  into.length = 0;
  const order = store.listings.order(node);
  if (order !== undefined) return order.takeAfter(after, limit, into);
  // There are few.
  const all: number[] = [];
  for (let child = store.firstChild(node); child !== NO_NODE; child = store.nextSibling(child)) all.push(child);
  const few = store.listings.newOrder();
  few.fill(all);
  return few.takeAfter(after, limit, into);
}
