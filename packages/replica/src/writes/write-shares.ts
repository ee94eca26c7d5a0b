import { OpCode } from "@zooid/model";

/** Microseconds of a write that is no multi, with its look-ups. */
const WRITE_US = 3;
/** Bytes of a large write that cost one more. */
const BYTES_PER_US_LOG2 = 12;
/** Bytes of a multi that cost one: its smallest parts have some fifty, and cost two. */
const MULTI_BYTES_PER_US_LOG2 = 5;

/** What applying a write costs about, in microseconds, by what is known before it is decoded. */
export function writePriceUs(op: number, bytes: number): number {
  return WRITE_US + (bytes >> (op === OpCode.MULTI ? MULTI_BYTES_PER_US_LOG2 : BYTES_PER_US_LOG2));
}

/** A connection with writes in flight. */
export interface WritingConnection {
  /** See {@link addressShare}. */
  readonly share: string;
  /** The price of its writes in flight. */
  workUs: number;
}

/**
 * Bounds the writes in flight by the time that it takes to apply them: by default 20 ms in all, of which an address (or /64) may have half and a connection
 * a quarter. A write that finds an address or a connection with its share in flight waits, and so does one of an address that has any in flight while
 * the whole is: the others' writes go ahead, and one write of each address always may.
 */
export class WriteShares {
  readonly #workUsMax: number;
  /** The price of the writes in flight, by the share of their address. Those without any are not there. */
  readonly #addresses = new Map<string, number>();
  #totalUs = 0;

  constructor({ writeWorkUsMax }: { readonly writeWorkUsMax: number }) {
    this.#workUsMax = writeWorkUsMax;
  }

  /** The price of all writes in flight. */
  get totalUs(): number {
    return this.#totalUs;
  }

  admits({ share, workUs }: WritingConnection, priceUs: number): boolean {
    const max = this.#workUsMax;
    const ofAddress = this.#addresses.get(share) ?? 0;
    if (ofAddress === 0) return true;
    if (this.#totalUs + priceUs > max || ofAddress + priceUs > max / 2) return false;
    return workUs === 0 || workUs + priceUs <= max / 4;
  }

  charge(connection: WritingConnection, priceUs: number): void {
    const { share } = connection;
    connection.workUs += priceUs;
    this.#totalUs += priceUs;
    this.#addresses.set(share, (this.#addresses.get(share) ?? 0) + priceUs);
  }

  discharge(connection: WritingConnection, priceUs: number): void {
    const { share } = connection;
    connection.workUs -= priceUs;
    this.#totalUs -= priceUs;
    const rest = (this.#addresses.get(share) ?? 0) - priceUs;
    if (rest > 0) this.#addresses.set(share, rest);
    else this.#addresses.delete(share);
  }
}
