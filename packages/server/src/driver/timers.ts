import type { Checkpoints } from "./checkpoints.ts";
import type { Clients } from "./clients.ts";
import type { DriverGround } from "./driver-ground.ts";
import { DueTimer } from "./due-timer.ts";
import type { TurnLoop } from "./turn-loop.ts";

interface Parts extends DriverGround {
  readonly checkpoints: Checkpoints;
  readonly clients: Clients;
  readonly turns: TurnLoop;
}

const SWEEP_MS = 1000;
/** Work of compaction in one turn. */
const COMPACT_BUDGET = 64;

/** Timed work: the replica's ticks, the expiry of sessions, and a sweep each second. */
export class Timers {
  readonly #parts: Parts;
  readonly #expiry = new DueTimer(() => this.#expire(), true);
  // Pending messages are read first: a stalled server hears the others before it judges them.
  readonly #tick = new DueTimer(() => setImmediate(() => this.#parts.turns.wake()), false);
  #sweepTimer: NodeJS.Timeout | undefined;
  #sessionsRevision = -1;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  begin(): void {
    this.#sweepTimer = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweepTimer.unref();
  }

  /**
   * Called once, at the end of a turn, after everything that can change the time of the next tick.
   *
   * @returns when the replica has something to do; infinite when never
   */
  armTick(): number {
    const dueMs = this.#parts.replica.nextTickMs();
    this.#tick.arm(dueMs);
    return dueMs ?? Number.POSITIVE_INFINITY;
  }

  armExpiry(): void {
    this.#expiry.arm(this.#parts.replica.nextExpiryMs());
  }

  /** Arms the expiry of sessions, if it may have moved. */
  armExpiryIfMoved(): void {
    const { revision } = this.#parts.replica.sessions;
    if (revision === this.#sessionsRevision) return;
    this.#sessionsRevision = revision;
    this.armExpiry();
  }

  /** No session expires any more, and nothing is swept; ticks continue until {@link stop}. */
  stopExpiry(): void {
    clearInterval(this.#sweepTimer);
    this.#expiry.stop();
  }

  stop(): void {
    this.stopExpiry();
    this.#tick.stop();
  }

  /**
   * Expires the sessions of one due bucket, and only after the sockets were read: a server that was
   * stalled reads what its clients sent meanwhile before it expires their sessions.
   */
  #expire(): void {
    const { turns, replica } = this.#parts;
    setImmediate(() => {
      setImmediate(() => {
        turns.wake();
        turns.step(() => replica.expireSessions());
        // The timer may have fired a moment too soon, and there may be further buckets.
        this.armExpiry();
      });
    });
  }

  #sweep(): void {
    const { turns, replica, checkpoints } = this.#parts;
    this.#closeSessionless();
    turns.step(() => {
      replica.tree.compact(COMPACT_BUDGET);
      if (checkpoints.hasAppended) checkpoints.take();
    });
  }

  #closeSessionless(): void {
    const { turns, clients, polls } = this.#parts;
    turns.wake();
    if (clients.closeSessionless()) polls.later(() => this.#closeSessionless());
  }
}
