import { BUDGETS } from "@zooid/model";
import type { HeldWrite } from "@zooid/replica";
import type { ClientConnection, SimClient } from "../clients/sim-client.ts";
import type { Limits } from "../cluster/limits.ts";
import { Violation } from "./violation.ts";

/** Longer than a commit and the slices of a transaction take, and shorter than clients wait. */
const HELD_LIMIT_MS = 700;
/**
 * How often a full server may have room again, and a write still be held: those that are held
 * longer go first.
 */
const MISSED_LIMIT = 3;

interface Wait {
  readonly write: HeldWrite;
  /** While the server had room; not before it has resumed. */
  ms: number;
  seenMs: number;
  wasFull: boolean;
  missed: number;
}

/**
 * L5: an address with no write in flight has the next one carried out, however many other addresses
 * write, and however much. Large writes, an eighth of what all may have in flight, wait for each
 * other. A server that is full takes no writes, and its time does not count; but each time that it
 * has room again is a chance that the write missed.
 */
export class HeldWrites {
  readonly #largeFromUs: number;
  /** How an ordinary client's write has waited while none of its address was in flight. */
  readonly #waits = new WeakMap<ClientConnection, Wait>();

  constructor({ writeWorkUsMax }: Pick<Limits, "writeWorkUsMax">) {
    this.#largeFromUs = writeWorkUsMax * BUDGETS.writesInFlight.largeFrom;
  }

  check({ connection, tenant, name }: SimClient, nowMs: number): void {
    if (connection === undefined || tenant !== undefined || connection.isSilent) return;
    const { server, ref } = connection;
    const found = server.isServing && !server.isPaused ? server.replica.connection(ref) : undefined;
    const write = found?.heldWrite;
    if (write === undefined || write.priceUs >= this.#largeFromUs || (found?.addressWork?.workUs ?? 0) !== 0) {
      this.#waits.delete(connection);
      return;
    }
    const { isFull, isApplying } = server.replica;
    const wait = this.#waitOf(connection, write, nowMs);
    if (!isFull && wait.wasFull) wait.missed++;
    else if (!isFull && !isApplying) wait.ms += nowMs - Math.max(wait.seenMs, server.resumedMs);
    wait.seenMs = nowMs;
    wait.wasFull = isFull;
    if (wait.ms <= HELD_LIMIT_MS && wait.missed <= MISSED_LIMIT) return;
    throw new Violation(
      "L5",
      `server ${server.sid} holds a write of ${name} for ${Math.floor(wait.ms)} ms and ${wait.missed} times that it had room, ` +
        "whose address has none in flight",
    );
  }

  #waitOf(connection: ClientConnection, write: HeldWrite, nowMs: number): Wait {
    const known = this.#waits.get(connection);
    if (known?.write === write) return known;
    const wait: Wait = { write, ms: 0, seenMs: nowMs, wasFull: false, missed: 0 };
    this.#waits.set(connection, wait);
    return wait;
  }
}
