import type { ClientShare } from "@zooid/model";
import type { TurnOrder } from "./turn-order.ts";

/**
 * A queue in which addresses take turns, and within an address those who came first. Connections of
 * trusted proxies take turns of their own, each as if it were an address.
 */
export class AddressTurns<T extends ClientShare> {
  readonly #order: TurnOrder;
  readonly #direct = new Rotation<T>();
  readonly #proxied = new Rotation<T>();
  /** Those that wait; set by this class alone. */
  count = 0;

  constructor(order: TurnOrder) {
    this.#order = order;
  }

  add(one: T): void {
    this.count++;
    (one.isProxied ? this.#proxied : this.#direct).add(one);
  }

  /** Takes out the next one; undefined where none waits. */
  take(): T | undefined {
    if (this.count === 0) return undefined;
    this.count--;
    const [direct, proxied] = [this.#direct, this.#proxied];
    if (direct.count === 0) return proxied.take(this.#order);
    if (proxied.count === 0) return direct.take(this.#order);
    return (this.#order.isTurnOfProxies() ? proxied : direct).take(this.#order);
  }

  /** Adds all that wait in another queue. */
  addAll(other: AddressTurns<T>): void {
    this.count += other.count;
    other.count = 0;
    this.#direct.addAll(other.#direct);
    this.#proxied.addAll(other.#proxied);
  }
}

class Rotation<T extends ClientShare> {
  /** The address whose turn it is comes first. */
  readonly #addresses = new Map<string, T[]>();
  count = 0;

  add(one: T): void {
    this.count++;
    const waiting = this.#addresses.get(one.share);
    if (waiting === undefined) this.#addresses.set(one.share, [one]);
    else waiting.push(one);
  }

  take(order: TurnOrder): T | undefined {
    const share = this.#next(order);
    const waiting = share === undefined ? undefined : this.#addresses.get(share);
    if (share === undefined || waiting === undefined) return undefined;
    const one = waiting.shift();
    this.count--;
    this.#addresses.delete(share);
    if (waiting.length > 0) this.#addresses.set(share, waiting);
    return one;
  }

  /**
   * The first address that owes nothing; where all do, the one that owes least. Those that are
   * passed over pay.
   */
  #next(order: TurnOrder): string | undefined {
    let least: string | undefined;
    let leastMs = Number.POSITIVE_INFINITY;
    for (const share of this.#addresses.keys()) {
      // No other address waits.
      const owedMs = this.#addresses.size === 1 ? 0 : order.passOver(share);
      if (owedMs === 0) return share;
      if (owedMs >= leastMs) continue;
      least = share;
      leastMs = owedMs;
    }
    return least;
  }

  addAll(other: Rotation<T>): void {
    for (const [share, waiting] of other.#addresses) {
      const mine = this.#addresses.get(share);
      if (mine === undefined) this.#addresses.set(share, waiting);
      else mine.push(...waiting);
      this.count += waiting.length;
    }
    other.#addresses.clear();
    other.count = 0;
  }
}
