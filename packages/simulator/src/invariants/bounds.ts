import type { ConnectionRef } from "@zooid/model";
import type { ConnectionRefusal } from "@zooid/replica";
import type { SimClient } from "../clients/sim-client.ts";
import { READ_ON_COUNT_MAX } from "../cluster/client-frames.ts";
import type { Limits } from "../cluster/limits.ts";
import type { SimServer } from "../cluster/server.ts";
import { Violation } from "./violation.ts";

/**
 * B3: in one step a connection is answered no more than may wait unsent, and a few requests that
 * wait for nothing.
 */
export class AnswerBound {
  readonly #limits: Limits;
  /** The bytes that each connection was answered in the present step. */
  readonly #bytes = new Map<ConnectionRef, number>();
  #largest = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  answered(to: ConnectionRef, bytes: number): void {
    const sum = (this.#bytes.get(to) ?? 0) + bytes;
    this.#bytes.set(to, sum);
    this.#largest = Math.max(this.#largest, bytes);
    const most = 4 * this.#limits.waitingAnswerBytesMax + (READ_ON_COUNT_MAX + 2) * this.#largest;
    if (sum > most) throw new Violation("B3", `in one step a connection is answered ${sum} bytes, of at most ${most}`);
  }

  endStep(): void {
    if (this.#bytes.size > 0) this.#bytes.clear();
  }
}

/**
 * Time in which a server may hold more: watches are removed in slices. The steps are of a server
 * that runs meanwhile.
 */
const OVER_WATCH_LIMIT_MS = 1000;
const OVER_WATCH_LIMIT_STEPS = 300;

/** B2: a server does not keep more watches than it may. */
export class WatchBound {
  readonly #limits: Limits;
  /** Since when servers hold more. */
  readonly #over = new WeakMap<SimServer, { readonly sinceMs: number; steps: number }>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  stepped(server: SimServer): void {
    const { chargedBytes } = server.replica.tree.watches;
    if (chargedBytes <= this.#limits.watchBytesMax) {
      this.#over.delete(server);
      return;
    }
    const over = this.#over.get(server) ?? { sinceMs: server.nowMs, steps: 0 };
    this.#over.set(server, over);
    const forMs = server.nowMs - over.sinceMs;
    if (++over.steps <= OVER_WATCH_LIMIT_STEPS || forMs <= OVER_WATCH_LIMIT_MS) return;
    throw new Violation("B2", `server ${server.sid} holds ${chargedBytes} bytes of watches for ${forMs} ms`);
  }
}

/** B2: of the ordinary clients only the one with the most watches is refused, for its watches. */
export function checkRefusal(refused: {
  readonly client: SimClient;
  readonly ref: ConnectionRef;
  readonly refusal: ConnectionRefusal;
  readonly watches: { chargedBytesOf(ref: ConnectionRef): number };
  /** The connections of its server. */
  readonly others: readonly ConnectionRef[];
}): void {
  const { client, ref, refusal, watches, others } = refused;
  const bytes = watches.chargedBytesOf(ref);
  if (refusal !== "watch-limit" || others.some((other) => watches.chargedBytesOf(other) > bytes)) {
    throw new Violation("B2", `${client.name} is refused: ${refusal}`);
  }
}
