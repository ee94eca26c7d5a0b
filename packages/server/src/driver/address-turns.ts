/** What waits on behalf of an address. */
export interface OfAddress {
  /** What the address counts as where addresses have shares. */
  readonly share: string;
}

/** A queue in which addresses take turns, and within an address those who came first. */
export class AddressTurns<T extends OfAddress> {
  /** The address whose turn it is comes first. */
  readonly #addresses = new Map<string, T[]>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(one: T): void {
    this.#count++;
    const waiting = this.#addresses.get(one.share);
    if (waiting === undefined) this.#addresses.set(one.share, [one]);
    else waiting.push(one);
  }

  /** Takes out the next one; undefined where none waits. */
  take(): T | undefined {
    const [next] = this.#addresses;
    if (next === undefined) return undefined;
    const [share, waiting] = next;
    const one = waiting.shift();
    this.#count--;
    this.#addresses.delete(share);
    if (waiting.length > 0) this.#addresses.set(share, waiting);
    return one;
  }

  /** Adds all that wait in another queue. */
  addAll(other: AddressTurns<T>): void {
    for (let one = other.take(); one !== undefined; one = other.take()) this.add(one);
  }
}
