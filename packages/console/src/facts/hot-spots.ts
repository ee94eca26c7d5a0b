/** The nodes that change most, as one recursive watch of a user sees them. */
import { type Client, isTerminal } from "@zooid/client";
import { ChangeCounts, type ChangeSummary } from "./change-counts.ts";

interface Counting {
  readonly counts: ChangeCounts;
  readonly startedMs: number;
  /** Undefined while it counts. */
  error: unknown;
  lastReadMs: number;
  stop(): void;
}

export interface HotSpotsSummary extends ChangeSummary {
  /** Milliseconds since 1970. */
  readonly startedMs: number;
}

/**
 * Time after the last request at which counting ends: it costs as much as following all changes.
 */
const IDLE_MS = 120_000;
const CHECK_MS = 10_000;

export class HotSpots {
  readonly #counting = new Map<Client, Counting>();
  readonly #nowMs: () => number;
  readonly #timer: NodeJS.Timeout;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#timer = setInterval(() => this.stopIdle(), CHECK_MS).unref();
  }

  get count(): number {
    return this.#counting.size;
  }

  /**
   * The first request starts the counting for this user's session.
   *
   * @throws the error that ended the counting; the next request starts it again
   */
  read(client: Client, countMax: number): HotSpotsSummary {
    const nowMs = this.#nowMs();
    const counting = this.#counting.get(client) ?? this.#start(client, nowMs);
    counting.lastReadMs = nowMs;
    if (counting.error !== undefined) {
      this.#counting.delete(client);
      throw counting.error;
    }
    return { startedMs: counting.startedMs, ...counting.counts.summary(nowMs, countMax) };
  }

  stopIdle(): void {
    const nowMs = this.#nowMs();
    for (const [client, counting] of this.#counting) {
      if (nowMs - counting.lastReadMs < IDLE_MS && !isTerminal(client.state)) continue;
      this.#counting.delete(client);
      counting.stop();
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const counting of this.#counting.values()) counting.stop();
    this.#counting.clear();
  }

  #start(client: Client, nowMs: number): Counting {
    const counts = new ChangeCounts(nowMs);
    const counting: Counting = {
      counts,
      startedMs: Date.now(),
      error: undefined,
      lastReadMs: nowMs,
      stop: () => subscription.unsubscribe(),
    };
    this.#counting.set(client, counting);
    const subscription = client.events$("/", { mode: "persistent-recursive" }).subscribe({
      next: (event) => {
        if (event.type !== "resync") counts.add(event.type, event.path, this.#nowMs());
      },
      error: (error: unknown) => {
        counting.error = error;
      },
      complete: () => {
        if (this.#counting.get(client) === counting) this.#counting.delete(client);
      },
    });
    return counting;
  }
}
