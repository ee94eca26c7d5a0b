import type { Hold } from "./hold.ts";
import type { Lease } from "./lease.ts";
import { unlessAborted } from "./waiting.ts";

/**
 * The grants of owners: an owner is in the queue once, however many of its calls wait, and gets
 * further leases on a grant that it holds.
 */
export class Owners {
  readonly #holdings = new Map<unknown, Promise<Hold>>();
  readonly #holds = new Map<unknown, Hold>();

  /** @param take waits for the grant; it must call `ended` when the grant has ended */
  async lease(owner: unknown, signal: AbortSignal, take: (ended: () => void) => Promise<Hold>): Promise<Lease> {
    for (;;) {
      const holding = this.#holdings.get(owner);
      if (holding === undefined) return await this.#take(owner, take);
      // Another call of the same owner is in the queue; if it gives up, this one enters the queue
      // itself.
      const hold = await unlessAborted(
        holding.catch(() => undefined),
        signal,
      );
      if (hold !== undefined && !hold.isOver) return hold.lease();
      this.#forget(owner, holding);
    }
  }

  /** The owner's grant, or the one that it is waiting for. */
  async held(owner: unknown): Promise<Hold | undefined> {
    const hold = await this.#holdings.get(owner)?.catch(() => undefined);
    return hold?.isOver === false ? hold : undefined;
  }

  /** The owner's grant at this instant; pending ones do not count. */
  heldNow(owner: unknown): Hold | undefined {
    const hold = this.#holds.get(owner);
    return hold?.isOver === false ? hold : undefined;
  }

  async #take(owner: unknown, take: (ended: () => void) => Promise<Hold>): Promise<Lease> {
    const holding: Promise<Hold> = take(() => this.#forget(owner, holding));
    this.#holdings.set(owner, holding);
    try {
      const hold = await holding;
      if (!hold.isOver) this.#holds.set(owner, hold);
      return hold.lease();
    } catch (error) {
      this.#forget(owner, holding);
      throw error;
    }
  }

  #forget(owner: unknown, holding: Promise<Hold>): void {
    if (this.#holdings.get(owner) !== holding) return;
    this.#holdings.delete(owner);
    this.#holds.delete(owner);
  }
}
