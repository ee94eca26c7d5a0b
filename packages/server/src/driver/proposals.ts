import type { Appended } from "@zooid/txn-log";
import { BatchSizes } from "./batch-sizes.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Deliveries } from "./deliveries.ts";
import type { DriverGround } from "./driver-ground.ts";
import type { Service } from "./service.ts";
import type { TurnLoop } from "./turn-loop.ts";

interface Parts extends DriverGround {
  readonly checkpoints: Checkpoints;
  readonly deliveries: Deliveries;
  readonly service: Service;
  readonly turns: TurnLoop;
}

/** How soon to look again whether the state file has caught up. */
const BEHIND_RETRY_MS = 20;

/**
 * When prepared writes are proposed: at the end of a turn, or earlier in it as soon as they fill a
 * batch, so that the log thread works while more requests are read. Only while few enough batches
 * are in the log and not durable: writes that arrive meanwhile make the next batch larger.
 */
export class Proposals {
  /** This server transfers its leadership: nothing more is proposed. */
  isTransferring = false;
  readonly #parts: Parts;
  #batchesInFlight = 0;
  #sizes = new BatchSizes();
  #behindTimer: NodeJS.Timeout | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get batchesInFlight(): number {
    return this.#batchesInFlight;
  }

  get sizes(): Readonly<BatchSizes> {
    return this.#sizes;
  }

  propose(): void {
    if (this.mayPropose()) this.#parts.replica.propose();
  }

  /** Within a turn. */
  proposeFull(): void {
    const { replica, config, turns } = this.#parts;
    if (replica.preparedBytes >= config.batchBytes && this.mayPropose()) turns.step(() => replica.propose());
  }

  mayPropose(): boolean {
    return this.#batchesInFlight < this.#parts.config.batchesInFlightMax && !this.#mustWait();
  }

  /** A batch is handed to the log, which completes it later: see {@link appended}. */
  appending(bytes: number): void {
    this.#batchesInFlight++;
    this.#sizes.note(bytes);
    this.#parts.checkpoints.appended(bytes);
  }

  /** A batch, and everything before it, is durable. */
  appended({ generation, zxid }: Appended): void {
    const { turns, replica, deliveries } = this.#parts;
    this.#batchesInFlight--;
    turns.wake();
    turns.step(() => {
      replica.synced(generation, zxid);
      deliveries.deliver();
    });
  }

  roleChanged(): void {
    this.#sizes = new BatchSizes();
  }

  /**
   * Whether proposals wait for the state file, or for the next leader. Once enough is prepared,
   * connections are not read on; reads that came before are answered.
   */
  #mustWait(): boolean {
    const { replica, service, hooks, turns } = this.#parts;
    if (this.isTransferring) return true;
    if (service.isStopped || !replica.hasPrepared || !hooks.isBehind()) return false;
    this.#behindTimer ??= setTimeout(() => {
      this.#behindTimer = undefined;
      turns.wake();
    }, BEHIND_RETRY_MS);
    return true;
  }

  halt(): void {
    clearTimeout(this.#behindTimer);
  }
}
