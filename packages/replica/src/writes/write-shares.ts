import { BUDGETS, NO_PROXIES, PRICES, type TrustedProxies } from "@zooid/model";

const { ofAddress: OF_ADDRESS, ofConnection: OF_CONNECTION, largeFrom: LARGE_FROM } = BUDGETS.writesInFlight;
const { writeUs, writeBytesPerUsLog2, multiBytesPerUsLog2 } = PRICES;
/** From this many addresses on, those without writes in flight are forgotten. */
const ADDRESSES_KEPT = 1024;

/**
 * The cost of a write until it is applied, in microseconds, about, beside its path, or the parts of
 * a multi.
 */
export function writePriceUs(bytes: number): number {
  return writeUs + (bytes >> writeBytesPerUsLog2);
}

/** The cost of a multi by its bytes alone, about. */
export function longMultiPriceUs(bytes: number): number {
  return writeUs + (bytes >> multiBytesPerUsLog2);
}

/** The writes in flight of an address. */
export interface AddressWork {
  workUs: number;
  /** Another object counts for the address now: this one had nothing in flight. */
  isForgotten: boolean;
}

export interface WriteSharesConfig {
  /** The price of all writes in flight, at most. */
  readonly writeWorkUsMax: number;
  readonly trustedProxies?: TrustedProxies;
}

/** A connection that writes. */
export interface WritingConnection {
  /** See {@link ClientShare}. */
  readonly share: string;
  readonly isProxied: boolean;
  /** The price of its writes in flight. */
  workUs: number;
  /** That of its address, from its first write on. */
  addressWork: AddressWork | undefined;
}

/**
 * Bounds the writes in flight by the time that it takes to apply them: by default 20 ms in all, of
 * which an address (or /64) may have half and a connection a quarter. A write that finds an address
 * or a connection with its share in flight waits, and so does one of an address that has any in
 * flight while the whole is: the others' writes go ahead. One write of each address always may, if
 * it costs less than an eighth of the whole. One that costs more also waits for such a one of any
 * address, unless both are within the whole: otherwise a client with many addresses would have one
 * of each in flight. Connections of trusted proxies count as addresses, and have a share together:
 * one write of them all always may go ahead.
 */
export class WriteShares {
  readonly #workUsMax: number;
  /** By the share of the address. One with writes in flight is never forgotten. */
  readonly #addresses = new Map<string, AddressWork>();
  /** How many there may be before those without writes in flight are forgotten. */
  #addressCountMax = ADDRESSES_KEPT;
  #totalUs = 0;
  /** The price of the writes in flight that cost an eighth of the whole or more. */
  #largeUs = 0;
  /** The part of it that came by trusted proxies, and how much that may be. */
  #proxiedUs = 0;
  readonly #proxiedUsMax: number;
  /** Total up to which every share has room. */
  readonly #freeUs: number;

  constructor({ writeWorkUsMax, trustedProxies = NO_PROXIES }: WriteSharesConfig) {
    this.#workUsMax = writeWorkUsMax;
    this.#proxiedUsMax = writeWorkUsMax * trustedProxies.share;
    this.#freeUs = Math.min(this.#proxiedUsMax, writeWorkUsMax * OF_CONNECTION, writeWorkUsMax * OF_ADDRESS);
  }

  /** The price of all writes in flight. */
  get totalUs(): number {
    return this.#totalUs;
  }

  /** Addresses that are counted. */
  get addressCount(): number {
    return this.#addresses.size;
  }

  admits(connection: WritingConnection, priceUs: number): boolean {
    if (this.#totalUs + priceUs <= this.#freeUs) return true;
    const max = this.#workUsMax;
    if (connection.isProxied && this.#proxiedUs > 0 && this.#proxiedUs + priceUs > this.#proxiedUsMax) return false;
    const ofAddress = this.#addressOf(connection).workUs;
    if (ofAddress === 0) return !this.isLarge(priceUs) || this.#largeUs === 0 || this.#totalUs + priceUs <= max;
    if (this.#totalUs + priceUs > max || ofAddress + priceUs > max * OF_ADDRESS) return false;
    return connection.workUs === 0 || connection.workUs + priceUs <= max * OF_CONNECTION;
  }

  charge(connection: WritingConnection, priceUs: number): void {
    connection.workUs += priceUs;
    this.#totalUs += priceUs;
    if (this.isLarge(priceUs)) this.#largeUs += priceUs;
    if (connection.isProxied) this.#proxiedUs += priceUs;
    this.#addressOf(connection).workUs += priceUs;
  }

  discharge(connection: WritingConnection, priceUs: number): void {
    connection.workUs -= priceUs;
    this.#totalUs -= priceUs;
    if (this.isLarge(priceUs)) this.#largeUs -= priceUs;
    if (connection.isProxied) this.#proxiedUs -= priceUs;
    this.#addressOf(connection).workUs -= priceUs;
  }

  /** Whether a write costs an eighth of the whole or more. */
  isLarge(priceUs: number): boolean {
    return priceUs >= this.#workUsMax * LARGE_FROM;
  }

  /** Kept at the connection, so that a write costs no look-up. */
  #addressOf(connection: WritingConnection): AddressWork {
    const known = connection.addressWork;
    if (known !== undefined && !known.isForgotten) return known;
    let work = this.#addresses.get(connection.share);
    if (work === undefined) {
      if (this.#addresses.size >= this.#addressCountMax) this.#forgetIdle();
      work = { workUs: 0, isForgotten: false };
      this.#addresses.set(connection.share, work);
    }
    connection.addressWork = work;
    return work;
  }

  #forgetIdle(): void {
    for (const [share, work] of this.#addresses) {
      if (work.workUs > 0) continue;
      work.isForgotten = true;
      this.#addresses.delete(share);
    }
    this.#addressCountMax = Math.max(ADDRESSES_KEPT, this.#addresses.size * 2);
  }
}
