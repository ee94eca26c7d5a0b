import { counted } from "@zooid/model";
import type { LearnerStatus } from "@zooid/zab";
import type { ClientConnection } from "../clients/client-connection.ts";
import type { Driver } from "../driver/driver.ts";
import type { WriteLine } from "./log-fields.ts";

/** Time between two steps of closing connections. */
const STEP_MS = 50;
/** Maximum time beyond the end of a drain that a connection with unanswered writes stays. */
const BUSY_MS = 2000;
/**
 * How long a leader that is drained waits for a successor, during which writes wait, and how soon
 * it tries again.
 */
const TRANSFER_MS = 2000;
const TRANSFER_EVERY_MS = 10_000;

/** The part of the driver that a drain uses. */
export interface DrainedDriver extends Pick<Driver, "isDraining" | "transferLeadership"> {
  readonly replica: Pick<Driver["replica"], "isLeading" | "unansweredOf"> & {
    readonly zab: { learners(): readonly Pick<LearnerStatus, "mayLead">[] };
  };
  connections(): Iterable<DrainedConnection>;
}

type DrainedConnection = Pick<ClientConnection, "isClosing" | "ref" | "close" | "flush">;

/** How far a drain has come. */
export interface DrainProgress {
  readonly isDraining: boolean;
  /** Connections of clients that are left. */
  readonly connections: number;
  readonly isLeading: boolean;
}

/**
 * Empties a server of its clients before maintenance: it hands its leadership over, refuses
 * sessions, and closes connections at an even pace, each when its writes are answered. The clients
 * continue their sessions at other servers; closing all at once would let them connect there all at
 * once.
 *
 * ```
 *  serving ─▶ draining: connections closed one after another ─▶ drained: no connection is left ─▶ serving
 *             begin                                                                               end
 * ```
 */
export class Drain {
  readonly #driver: () => DrainedDriver;
  readonly #info: WriteLine;
  #steps: NodeJS.Timeout | undefined;
  #left: DrainedConnection[] = [];
  #endMs = 0;
  #durationMs = 0;
  /** Connections at the beginning. */
  #count = 0;
  #transferAtMs = 0;
  #hasSaid = false;

  constructor(parts: { readonly driver: () => DrainedDriver; readonly info: WriteLine }) {
    this.#driver = parts.driver;
    this.#info = parts.info;
  }

  get isOn(): boolean {
    return this.#steps !== undefined;
  }

  progress(): DrainProgress {
    const { replica } = this.#driver();
    return { isDraining: this.isOn, connections: this.#open().length, isLeading: replica.isLeading };
  }

  /** @param durationMs over which the connections are closed */
  begin(durationMs: number): void {
    const driver = this.#driver();
    clearInterval(this.#steps);
    driver.isDraining = true;
    this.#left = this.#open();
    this.#endMs = performance.now() + durationMs;
    this.#durationMs = durationMs;
    this.#count = this.#left.length;
    this.#hasSaid = false;
    this.#transferAtMs = 0;
    this.#info(`draining: ${counted(this.#left.length, "connection")} will be closed within ${durationMs} ms`, {
      event: "draining",
    });
    this.#steps = setInterval(() => this.#step(), STEP_MS).unref();
    this.#step();
  }

  /** Serves clients again. */
  end(): void {
    if (!this.isOn) return;
    this.stop();
    this.#driver().isDraining = false;
    this.#info("draining has ended: clients may connect again", { event: "drain-ended" });
  }

  /** The server stops. */
  stop(): void {
    clearInterval(this.#steps);
    this.#steps = undefined;
    this.#left = [];
  }

  #step(): void {
    const driver = this.#driver();
    const nowMs = performance.now();
    if (nowMs >= this.#transferAtMs && mayTransfer(driver)) {
      this.#transferAtMs = nowMs + TRANSFER_EVERY_MS;
      void driver.transferLeadership({ withinMs: TRANSFER_MS, keepServing: true });
    }
    this.#left = this.#left.filter(({ isClosing }) => !isClosing);
    let due = this.#left.length - this.#mayStay(this.#endMs - nowMs);
    const mayWait = nowMs < this.#endMs + BUSY_MS;
    const busy: DrainedConnection[] = [];
    while (due > 0) {
      const connection = this.#left.shift();
      if (connection === undefined) break;
      due--;
      if (mayWait && driver.replica.unansweredOf(connection.ref) > 0) busy.push(connection);
      else {
        connection.close();
        connection.flush();
      }
    }
    this.#left.push(...busy);
    if (this.#hasSaid || this.#left.length > 0 || this.#open().length > 0) return;
    this.#hasSaid = true;
    const leads = driver.replica.isLeading ? "; it leads: no other server can" : "";
    this.#info(`drained: no client is connected to this server${leads}`, { event: "drained" });
  }

  /** How many connections may be open at a time before the end. */
  #mayStay(leftMs: number): number {
    return leftMs <= 0 ? 0 : Math.ceil((this.#count * leftMs) / this.#durationMs);
  }

  #open(): DrainedConnection[] {
    return [...this.#driver().connections()].filter(({ isClosing }) => !isClosing);
  }
}

function mayTransfer({ replica }: DrainedDriver): boolean {
  return replica.isLeading && replica.zab.learners().some(({ mayLead }) => mayLead);
}
