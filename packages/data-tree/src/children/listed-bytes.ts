/** In front of each name of a listing. */
export const NAME_LENGTH_BYTES = 4;

/**
 * A listing of about this size does not fit into the default buffers of stock clients, 1 MiB less a
 * header.
 */
export const LARGE_LISTING_BYTES: number = 1024 * 1024 - 128;

/** The bytes of a node's name in its parent's listing, by the lengths of their paths. */
export function listedNameBytes(parentPathLength: number, pathLength: number): number {
  // The root's path ends in the slash.
  return NAME_LENGTH_BYTES + pathLength - parentPathLength - (parentPathLength > 1 ? 1 : 0);
}
