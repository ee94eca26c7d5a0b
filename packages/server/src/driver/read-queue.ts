import type { ClientShare } from "@zooid/model";
import { AddressTurns } from "./address-turns.ts";
import type { TurnOrder } from "./turn-order.ts";

interface Readable extends ClientShare {
  /** Reads what an earlier turn had no room for. */
  readLater(): void;
}

/**
 * Connections that wait to be read: those that came too late for a turn, and those that have had
 * their share of one. Each turn reads one of the latter first, so that they progress however many
 * others come; then the former, and then the rest. Within each kind addresses take turns, so that a
 * client waits for one connection of each other address, not for all of them.
 */
export class ReadQueue<T extends Readable> {
  readonly #order: TurnOrder;
  #late: AddressTurns<T>;
  #served: AddressTurns<T>;

  constructor(order: TurnOrder) {
    this.#order = order;
    this.#late = new AddressTurns(order);
    this.#served = new AddressTurns(order);
  }

  get isEmpty(): boolean {
    return this.#late.count + this.#served.count === 0;
  }

  /**
   * Whether some came too late for an earlier turn: they go before connections that are ready now.
   */
  get hasLate(): boolean {
    return this.#late.count > 0;
  }

  add(connection: T, hasHadShare: boolean): void {
    (hasHadShare ? this.#served : this.#late).add(connection);
  }

  /** Reads one connection of each kind at least, and more as long as there is room. */
  serve(hasRoom: () => boolean, begin: (connection: T) => void): void {
    const [late, served] = [this.#late, this.#served];
    this.#late = new AddressTurns(this.#order);
    this.#served = new AddressTurns(this.#order);
    let readCount = 0;
    const read = (from: AddressTurns<T>): boolean => {
      // Called for each connection, whose share begins then.
      if (from.count === 0 || (!hasRoom() && readCount > 1)) return false;
      readCount++;
      const connection = from.take();
      if (connection !== undefined) {
        begin(connection);
        connection.readLater();
      }
      return true;
    };
    read(served);
    while (read(late));
    while (read(served));
    // Connections that were queued again meanwhile stand behind those that were not read.
    late.addAll(this.#late);
    served.addAll(this.#served);
    this.#late = late;
    this.#served = served;
  }
}
