import { addressShare } from "./address-share.ts";

export interface ConnectionPlacesOptions<C> {
  /** Places for connections of every kind. */
  readonly countMax: number;
  /** How many of those one address has, see {@link addressShare}. */
  readonly shareMax: number;
  /** Further places, for connections that ask for a probe alone. */
  readonly reserveMax: number;
  /** Closes a connection that gives way; {@link ConnectionPlaces.remove} may follow. */
  close(connection: C): void;
}

interface Place {
  readonly share: string;
  readonly isReserved: boolean;
  /** A request of it is whole, and is being answered. */
  isBusy: boolean;
}

/**
 * Places of connections at a port. One that waits, for a request or for the rest of one, gives way
 * to a new one when all places are taken: the one that has waited longest, of the address that has
 * most. So neither silence nor a request that comes byte by byte shuts others out. When all are
 * busy, a new connection gets one of a few reserved places, in which only probes are answered.
 */
export class ConnectionPlaces<C> {
  readonly #options: ConnectionPlacesOptions<C>;
  /** Those that wait are in the order in which they began to. */
  readonly #places = new Map<C, Place>();
  readonly #shares = new Map<string, number>();
  #reservedCount = 0;

  constructor(options: ConnectionPlacesOptions<C>) {
    this.#options = options;
  }

  get count(): number {
    return this.#places.size;
  }

  /** @returns what the connection may ask for; `none`: it has no place, and is to be closed */
  add(connection: C, address: string): "any" | "probes" | "none" {
    const share = addressShare(address);
    const hasRoom = this.#makeRoom(share);
    if (!hasRoom && !this.#makeReserve()) return "none";
    this.#places.set(connection, { share, isReserved: !hasRoom, isBusy: false });
    if (hasRoom) this.#shares.set(share, this.#countOf(share) + 1);
    else this.#reservedCount++;
    return hasRoom ? "any" : "probes";
  }

  /** A request is whole, or its answer is over. */
  setBusy(connection: C, isBusy: boolean): void {
    const place = this.#places.get(connection);
    if (place === undefined || place.isBusy === isBusy) return;
    place.isBusy = isBusy;
    this.#places.delete(connection);
    this.#places.set(connection, place);
  }

  /** Whether only probes are answered on the connection. */
  isReserved(connection: C): boolean {
    return this.#places.get(connection)?.isReserved === true;
  }

  remove(connection: C): void {
    const place = this.#places.get(connection);
    if (place === undefined) return;
    this.#places.delete(connection);
    if (place.isReserved) {
      this.#reservedCount--;
      return;
    }
    const rest = this.#countOf(place.share) - 1;
    if (rest === 0) this.#shares.delete(place.share);
    else this.#shares.set(place.share, rest);
  }

  #makeRoom(share: string): boolean {
    const { countMax, shareMax } = this.#options;
    if (this.#countOf(share) >= shareMax) return this.#evict((place) => !place.isReserved && place.share === share);
    if (this.#places.size - this.#reservedCount < countMax) return true;
    const greatest = this.#greatestWaitingShare();
    return greatest !== undefined && this.#evict((place) => !place.isReserved && place.share === greatest);
  }

  #makeReserve(): boolean {
    return this.#reservedCount < this.#options.reserveMax || this.#evict(({ isReserved }) => isReserved);
  }

  #greatestWaitingShare(): string | undefined {
    let greatest: string | undefined;
    for (const { share, isReserved, isBusy } of this.#places.values()) {
      if (isReserved || isBusy) continue;
      if (greatest === undefined || this.#countOf(share) > this.#countOf(greatest)) greatest = share;
    }
    return greatest;
  }

  /** Closes the connection that has waited longest of those. @returns false where none waits */
  #evict(isAmong: (place: Place) => boolean): boolean {
    for (const [connection, place] of this.#places) {
      if (place.isBusy || !isAmong(place)) continue;
      this.remove(connection);
      this.#options.close(connection);
      return true;
    }
    return false;
  }

  #countOf(share: string): number {
    return this.#shares.get(share) ?? 0;
  }
}
