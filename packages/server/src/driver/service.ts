import type { ServerId } from "@zooid/model";
import type { RestoredState } from "@zooid/zab";
import type { Checkpoints } from "./checkpoints.ts";
import type { Clients } from "./clients.ts";
import type { Deliveries } from "./deliveries.ts";
import type { DriverGround } from "./driver-ground.ts";
import type { Proposals } from "./proposals.ts";
import type { Timers } from "./timers.ts";
import type { TurnLoop } from "./turn-loop.ts";

interface Parts extends DriverGround {
  readonly checkpoints: Checkpoints;
  readonly clients: Clients;
  readonly deliveries: Deliveries;
  readonly proposals: Proposals;
  readonly timers: Timers;
  readonly turns: TurnLoop;
}

/**
 * - `starting`: recovers; no client is served
 * - `serving`: clients are served, or connect and are closed while there is no role
 * - `stopping`: no request is read any more; what was read is answered and made durable
 * - `halted`: the server has failed; nothing is read or sent any more
 */
type ServiceState = "starting" | "serving" | "stopping" | "halted";

export interface LeadershipTransfer {
  /** Maximum time until the transfer has succeeded or failed. */
  readonly withinMs: number;
  /** The only server that may succeed. By default the one that suits best. */
  readonly to?: ServerId | undefined;
  /**
   * Whether this server serves afterwards, as leader or not. Otherwise it proposes nothing more.
   */
  readonly keepServing: boolean;
}

/** Time until all that was proposed is committed and applied; writes wait meanwhile. */
const RESTORE_WAIT_MS = 5000;

/** Starts a driver, transfers its leadership, stops it, and ends it after a failure. */
export class Service {
  readonly #parts: Parts;
  #state: ServiceState = "starting";

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get isServing(): boolean {
    return this.#state === "serving";
  }

  get isStopped(): boolean {
    return this.#state === "stopping" || this.#state === "halted";
  }

  get isHalted(): boolean {
    return this.#state === "halted";
  }

  begin(): void {
    const { turns, checkpoints, timers } = this.#parts;
    turns.setTime();
    checkpoints.loaded();
    this.#state = "serving";
    timers.begin();
  }

  /**
   * Transfers leadership to a synchronized server, so that the others do not have to notice that
   * this one is gone.
   *
   * @returns the successor; undefined if no server could take it in time
   */
  async transferLeadership({ withinMs, to, keepServing }: LeadershipTransfer): Promise<ServerId | undefined> {
    const { proposals, turns } = this.#parts;
    try {
      return await this.#transferTo(to, performance.now() + withinMs);
    } finally {
      if (keepServing && !this.isStopped) {
        proposals.isTransferring = false;
        turns.wake();
      }
    }
  }

  /** See {@link Driver.restore}. */
  async restore(state: RestoredState): Promise<boolean> {
    const { peers, proposals, replica, turns } = this.#parts;
    const restored: RestoredState = {
      ...state,
      standAt: (zxid, epochs, done) => state.standAt(zxid, epochs, (result) => turns.input(() => done(result))),
      ended: (end) => state.ended(end),
    };
    // Proposals in flight complete; nothing more is proposed.
    proposals.isTransferring = replica.isLeading;
    let hasBegun = false;
    const endMs = performance.now() + RESTORE_WAIT_MS;
    while (!hasBegun && replica.isLeading && performance.now() < endMs && !this.isHalted) {
      turns.input(() => {
        hasBegun = replica.zab.restore(restored);
      });
      if (!hasBegun) await nextTurn();
    }
    if (!this.isStopped) {
      proposals.isTransferring = false;
      turns.wake();
    }
    // Learners hear of it before their links are closed.
    peers?.links.flush();
    return hasBegun;
  }

  async #transferTo(to: ServerId | undefined, endMs: number): Promise<ServerId | undefined> {
    const { replica, peers, proposals, turns } = this.#parts;
    if (peers === undefined) return undefined;
    // Proposals in flight complete; nothing more is proposed.
    proposals.isTransferring = replica.isLeading;
    let successor: ServerId | undefined;
    while (replica.isLeading && performance.now() < endMs && !this.isHalted) {
      turns.step(() => {
        successor = replica.zab.transferLeadership("stop", to);
      });
      if (successor !== undefined) break;
      turns.wake();
      await nextTurn();
    }
    peers.links.flush();
    return successor;
  }

  /**
   * Resolves when all prepared writes are durable, and each connection is closed behind its
   * answers.
   */
  async stop(): Promise<void> {
    const { timers, clients, closing, checkpoints } = this.#parts;
    if (this.isStopped) return;
    this.#state = "stopping";
    timers.stopExpiry();
    await this.#quiet();
    timers.stop();
    if (this.isHalted) return;
    for (const connection of clients) {
      connection.release();
      connection.close();
      connection.flush();
    }
    closing.closeAll();
    checkpoints.take();
  }

  /** Stops everything at once, after a failure. */
  halt(): void {
    const { timers, proposals, clients } = this.#parts;
    this.#state = "halted";
    timers.stop();
    proposals.halt();
    for (const connection of clients) connection.cutOff();
  }

  /** The replica threw: the server ends. */
  fail(error: unknown): void {
    if (this.isHalted) return;
    this.halt();
    this.#parts.hooks.defect(error);
  }

  /**
   * Resolves when every write that was read is answered, or never will be; on a full disk at once.
   */
  async #quiet(): Promise<void> {
    const { log, replica, proposals, turns, deliveries } = this.#parts;
    const isBusy = (): boolean =>
      proposals.batchesInFlight > 0 ||
      (replica.hasPrepared && !proposals.isTransferring) ||
      turns.isOpen ||
      deliveries.isContinuing;
    while (!this.isHalted && !log.isFull && isBusy()) await nextTurn();
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
