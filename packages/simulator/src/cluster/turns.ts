import type { Replica } from "@zooid/replica";
import type { ClientFrames } from "./client-frames.ts";
import { type Prng, ZeroRandom } from "./prng.ts";
import type { Scheduler } from "./scheduler.ts";
import type { ServerOptions } from "./server-options.ts";

/** The rest of a short turn waits for less than this, in half milliseconds. */
const SHORT_TURN_PAUSES = 16;

export interface TurnParts {
  readonly scheduler: Scheduler;
  readonly replica: Replica;
  readonly frames: ClientFrames;
  /** The random stream of the server's life. */
  readonly random: Prng;
  readonly options: ServerOptions;
  isUp(): boolean;
  /** A turn has proposed a full batch and leaves another. */
  batchLeft(): void;
  /** Runs a step of the replica at the current time. */
  step(run: () => void): void;
}

/**
 * The turns of a server, as its driver has them: some inputs, then one end of the turn that
 * proposes, applies and flushes. A paused server holds its inputs.
 */
export class Turns {
  readonly #parts: TurnParts;
  readonly #random: Prng;
  /** Decides where a turn ends before everything is applied; undefined: nowhere. */
  readonly #shortTurns: Prng | undefined;
  /** Inputs that arrived during a pause. */
  readonly #held: (() => void)[] = [];
  #isPaused = false;
  #isTurnDue = false;
  /** The rest of the due transactions is applied in a later turn. */
  #isDelivering = false;
  #tickDueMs = Number.POSITIVE_INFINITY;

  constructor(parts: TurnParts) {
    const { random, options } = parts;
    this.#parts = parts;
    this.#random = options.isSteady === true ? new ZeroRandom() : random.fork("steps");
    this.#shortTurns = options.hasShortTurns === true ? random.fork("short turns") : undefined;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Handles everything that arrived during the pause, at once. */
  resume(): void {
    this.#isPaused = false;
    for (const step of this.#held.splice(0)) this.input(step);
    this.#wakeAt(0);
  }

  /**
   * Steps the replica once. The end of the turn comes later, and may be shared with further inputs.
   */
  input(step: () => void): void {
    const { scheduler, isUp } = this.#parts;
    if (!isUp()) return;
    if (this.#isPaused) {
      this.#held.push(step);
      return;
    }
    this.#parts.step(step);
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    scheduler.after(this.#random.chance(0.7) ? 0 : this.#random.below(3), () => this.#endTurn());
  }

  #endTurn(): void {
    const { replica, frames, isUp } = this.#parts;
    this.#isTurnDue = false;
    if (!isUp()) return;
    if (this.#isPaused) {
      this.#held.push(() => {});
      return;
    }
    if (frames.hasResumed) this.#parts.step(() => frames.readOn(() => this.input(() => {})));
    if (!isUp()) return;
    this.#parts.step(() => {
      const dueMs = replica.nextTickMs();
      if (dueMs !== undefined && dueMs <= replica.nowMs) replica.tick();
      const expiryMs = replica.nextExpiryMs();
      if (expiryMs !== undefined && expiryMs <= replica.nowMs) replica.expireSessions();
      replica.propose();
      this.#deliver();
      replica.flush();
    });
    if (!isUp()) return;
    this.#wakeAt(Math.min(replica.nextTickMs() ?? Infinity, replica.nextExpiryMs() ?? Infinity));
    // The batch was full: the rest begins another, in a turn of its own.
    if (!replica.hasPrepared || replica.isPreparing || !replica.isLeading) return;
    this.#parts.batchLeft();
    this.input(() => {});
  }

  /**
   * A few at a time, so that limits are reached. A short turn leaves the rest to a later one, and
   * turns in between apply nothing.
   */
  #deliver(): void {
    const { replica, scheduler } = this.#parts;
    while (!this.#isDelivering && replica.deliver(1 + this.#random.below(5))) {
      if (this.#shortTurns?.chance(0.4) !== true) continue;
      this.#isDelivering = true;
      scheduler.after(this.#shortTurns.below(SHORT_TURN_PAUSES) / 2, () => {
        this.#isDelivering = false;
        this.input(() => {});
      });
    }
  }

  #wakeAt(dueMs: number): void {
    const { scheduler } = this.#parts;
    if (dueMs === Infinity || (dueMs >= this.#tickDueMs && this.#tickDueMs > scheduler.nowMs)) return;
    this.#tickDueMs = dueMs;
    scheduler.after(Math.max(1, dueMs - scheduler.nowMs), () => {
      if (this.#tickDueMs === dueMs) this.#tickDueMs = Number.POSITIVE_INFINITY;
      this.input(() => {});
    });
  }
}
