import type { Clients } from "./clients.ts";
import type { Deliveries } from "./deliveries.ts";
import type { DriverGround } from "./driver-ground.ts";
import type { Proposals } from "./proposals.ts";
import type { Service } from "./service.ts";
import type { Timers } from "./timers.ts";

interface Parts extends DriverGround {
  readonly clients: Clients;
  readonly deliveries: Deliveries;
  readonly proposals: Proposals;
  readonly service: Service;
  readonly timers: Timers;
}

/**
 * Turns of the event loop. The first input opens a turn: the replica gets the time, and everything
 * that arrives before the turn ends steps the replica. The end of the turn applies, proposes one
 * batch to the log, and writes each connection and link once.
 */
export class TurnLoop {
  readonly #parts: Parts;
  #isOpen = false;
  /** As counted when the turn began, for one that turns out to be slow. */
  #answeredBefore = 0;
  #appliedBefore = 0;
  /** When the replica has something to do, as of the end of the last turn. */
  #tickDueMs = Number.POSITIVE_INFINITY;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Opens a turn, unless one is open. */
  wake(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const { deliveries, reads, replica, polls } = this.#parts;
    deliveries.beginTurn();
    reads.begin();
    const { counters } = replica;
    this.#answeredBefore = counters.packetsSent;
    this.#appliedBefore = counters.commitCount;
    this.setTime();
    polls.later(() => this.#end());
  }

  setTime(): void {
    // Whole milliseconds: a fraction would be an object wherever it is kept.
    this.#parts.replica.setTime(Math.floor(performance.now()), Date.now());
  }

  /** Steps the replica in a turn, because of an input from outside. */
  input(step: () => void): void {
    if (this.#parts.service.isHalted) return;
    this.wake();
    this.step(step);
  }

  /** Steps the replica. If it throws, the server fails. */
  step(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#parts.service.fail(error);
    }
  }

  #end(): void {
    const { replica, service, clients, proposals, recorder, hooks, written, closing, timers, polls } = this.#parts;
    this.#isOpen = false;
    this.step(() => this.#stepToEnd());
    // The end of the turn lets connections be read on, and no other input may come for a while.
    if (clients.hasResumed) this.wake();
    // The next part of a multi, for which all writes wait, and the next batch do not wait for a
    // timer.
    if (replica.isPreparing || (replica.hasPrepared && proposals.mayPropose())) {
      if (!service.isHalted) polls.later(() => this.wake());
    }
    if (recorder?.hasChanges === true) recorder.publish();
    if (hooks.audit?.hasRecords === true) hooks.audit.publish();
    const hasUnsent = written.flush();
    const hasUnclosed = !closing.isEmpty && closing.closeSome();
    if (hasUnsent || hasUnclosed) polls.later(() => this.wake());
    // The clock was read when the last answer was sent.
    const tookMs = written.lastMs - replica.nowMs;
    if (tookMs >= hooks.slow.thresholdMs || hooks.slow.hasPending) this.#endSlowTurn(Math.floor(tookMs));
    timers.armExpiryIfMoved();
  }

  #endSlowTurn(tookMs: number): void {
    const { counters } = this.#parts.replica;
    // An operator may have reset the counters in between.
    const answered = Math.max(0, counters.packetsSent - this.#answeredBefore);
    const applied = Math.max(0, counters.commitCount - this.#appliedBefore);
    this.#parts.hooks.slow.endTurn({ tookMs, answered, applied });
  }

  #stepToEnd(): void {
    const { replica, clients, deliveries, proposals, peers, timers } = this.#parts;
    if (clients.hasResumed) clients.readResumed();
    if (replica.hasPostponed || this.#tickDueMs <= replica.nowMs) replica.tick();
    // Messages of other servers may have committed something.
    if (peers !== undefined) deliveries.deliver();
    proposals.propose();
    replica.flush();
    peers?.links.flush();
    this.#tickDueMs = timers.armTick();
  }
}
