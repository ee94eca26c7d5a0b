import { BUDGETS } from "@zooid/model";
import type { ClientConnection, SimClient } from "../clients/sim-client.ts";
import type { Limits } from "../cluster/limits.ts";
import { Violation } from "./violation.ts";

/** Longer than a commit and the slices of a transaction take, and shorter than clients wait. */
const HELD_LIMIT_MS = 700;

/**
 * L5: an address with no write in flight has the next one carried out, however many other addresses write, and however much. Large writes, an eighth of what all
 * may have in flight, wait for each other.
 */
export class HeldWrites {
  readonly #largeFromUs: number;
  /** Since when an ordinary client's write has waited while none of its address was in flight. */
  readonly #since = new WeakMap<ClientConnection, number>();

  constructor({ writeWorkUsMax }: Pick<Limits, "writeWorkUsMax">) {
    this.#largeFromUs = writeWorkUsMax * BUDGETS.writesInFlight.largeFrom;
  }

  check({ connection, tenant, name }: SimClient, nowMs: number): void {
    if (connection === undefined || tenant !== undefined || connection.isSilent) return;
    const { server, ref } = connection;
    const found = server.isServing && !server.isPaused ? server.replica.connection(ref) : undefined;
    const isSmall = (found?.heldWrite?.priceUs ?? Number.POSITIVE_INFINITY) < this.#largeFromUs;
    const isWaiting = isSmall && (found?.addressWork?.workUs ?? 0) === 0;
    // A server that is full takes no writes.
    if (!isWaiting || server.replica.isApplying || server.replica.isFull) {
      this.#since.delete(connection);
      return;
    }
    const sinceMs = Math.max(this.#since.get(connection) ?? nowMs, server.resumedMs);
    this.#since.set(connection, sinceMs);
    if (nowMs - sinceMs <= HELD_LIMIT_MS) return;
    const forMs = Math.floor(nowMs - sinceMs);
    throw new Violation(
      "L5",
      `server ${server.sid} holds a write of ${name} for ${forMs} ms, whose address has none in flight`,
    );
  }
}
