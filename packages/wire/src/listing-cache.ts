import { copyRange, type NodeView, StatOffset } from "@zooid/model";
import type { JuteWriter } from "./jute-writer.ts";

/** Shorter lists are written as quickly as they are found here. */
const CHILDREN_MIN = 16;
/** Nodes whose list was asked for lately; one entry costs little until its bytes are kept. */
const ENTRIES_MAX = 1024;
/** A list that is larger, or does not fit beside the others, is written from the tree each time. */
const LISTING_BYTES_MAX = 1024 * 1024;
const BYTES_MAX = 4 * LISTING_BYTES_MAX;

interface Listing {
  /** Which children the node had then: when it was made, when they changed last, and how often. */
  readonly czxidHigh: number;
  readonly czxidLow: number;
  readonly pzxidHigh: number;
  readonly pzxidLow: number;
  readonly cversion: number;
  /**
   * Undefined until the same list is asked for again: a list that changes each time is not worth
   * keeping.
   */
  bytes: Uint8Array | undefined;
}

/**
 * The encoded names of nodes with many children, as they were sent last. Walking a thousand
 * children costs fifty times what copying their names does, and watchers of one node all ask for
 * the same list at once.
 */
export class ListingCache {
  /** The longest unused first. */
  readonly #listings = new Map<number, Listing>();
  #bytes = 0;

  /** How many bytes are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Writes the count and the names of a node's children, from the cache if they are there. */
  write(writer: JuteWriter, node: NodeView): void {
    if (node.childCount < CHILDREN_MIN) {
      writeChildren(writer, node);
      return;
    }
    const known = this.#listings.get(node.id);
    if (known !== undefined && isSame(known, node)) {
      this.#touch(node.id, known);
      if (known.bytes !== undefined) writer.raw(known.bytes, 0, known.bytes.length);
      else this.#keep(known, this.#encode(writer, node));
      return;
    }
    if (known !== undefined) this.#drop(node.id, known);
    writeChildren(writer, node);
    this.#listings.set(node.id, listingOf(node));
    if (this.#listings.size > ENTRIES_MAX) this.#dropOldest();
  }

  /** Writes the list and returns its bytes. */
  #encode(writer: JuteWriter, node: NodeView): Uint8Array {
    const start = writer.end;
    writeChildren(writer, node);
    return writer.end - start > LISTING_BYTES_MAX ? NOTHING : copyRange(writer.bytes, start, writer.end);
  }

  #keep(listing: Listing, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    listing.bytes = bytes;
    this.#bytes += bytes.length;
    while (this.#bytes > BYTES_MAX) this.#dropOldest();
  }

  #touch(id: number, listing: Listing): void {
    this.#listings.delete(id);
    this.#listings.set(id, listing);
  }

  #dropOldest(): void {
    for (const [id, listing] of this.#listings) {
      this.#drop(id, listing);
      return;
    }
  }

  #drop(id: number, listing: Listing): void {
    this.#listings.delete(id);
    this.#bytes -= listing.bytes?.length ?? 0;
  }
}

const NOTHING = new Uint8Array(0);

function writeChildren(writer: JuteWriter, node: NodeView): void {
  writer.int(node.childCount);
  for (let more = node.firstChild(); more; more = node.nextChild()) writer.slice(node.childName);
}

function isSame(listing: Listing, { statView, statStart }: NodeView): boolean {
  return (
    listing.pzxidLow === statView.getInt32(statStart + StatOffset.pzxid + 4) &&
    listing.cversion === statView.getInt32(statStart + StatOffset.cversion) &&
    listing.pzxidHigh === statView.getInt32(statStart + StatOffset.pzxid) &&
    listing.czxidLow === statView.getInt32(statStart + StatOffset.czxid + 4) &&
    listing.czxidHigh === statView.getInt32(statStart + StatOffset.czxid)
  );
}

function listingOf({ statView, statStart }: NodeView): Listing {
  return {
    czxidHigh: statView.getInt32(statStart + StatOffset.czxid),
    czxidLow: statView.getInt32(statStart + StatOffset.czxid + 4),
    pzxidHigh: statView.getInt32(statStart + StatOffset.pzxid),
    pzxidLow: statView.getInt32(statStart + StatOffset.pzxid + 4),
    cversion: statView.getInt32(statStart + StatOffset.cversion),
    bytes: undefined,
  };
}
