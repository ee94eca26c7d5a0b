import type { OfAddress } from "./address-turns.ts";
import { ReadQueue } from "./read-queue.ts";
import { TurnBudget } from "./turn-budget.ts";

interface Readable extends OfAddress {
  /** Reads what an earlier turn had no room for. */
  readLater(): void;
}

interface ReadTurnsHost {
  /** Bytes of answers so far. */
  bytesSent(): number;
  /** The work of all requests so far, as the replica counts it. */
  workCount(): number;
  isHalted(): boolean;
  /** A turn begins, if none is open. */
  wake(): void;
}

/**
 * Shares each turn of the event loop between connections: which are read, for how long, and which
 * wait for a later turn.
 */
export class ReadTurns<T extends Readable> {
  readonly #host: ReadTurnsHost;
  readonly #budget = new TurnBudget(() => performance.now());
  readonly #waiting = new ReadQueue<T>();
  #isNextDue = false;

  constructor(host: ReadTurnsHost) {
    this.#host = host;
  }

  begin(): void {
    this.#budget.begin(this.#host.bytesSent());
  }

  /**
   * A connection ended. Of thousands that end at the same moment, the turn would have no time left
   * for those that have requests.
   */
  pause(): void {
    this.#budget.pause();
  }

  /** Whether a connection with bytes to read is read in this turn, in which its share begins. */
  get hasRoom(): boolean {
    // Connections that came too late for an earlier turn go first; else those with bytes in every
    // turn would take all of it.
    return !this.#waiting.hasLate && this.#budget.admits(this.#host.bytesSent());
  }

  /**
   * A request was executed.
   *
   * @param isLarge whether its frame or its answer was large
   * @returns whether its connection has had its share of the turn
   */
  isShareSpent(isLarge: boolean): boolean {
    return this.#budget.isShareSpent(this.#host.workCount(), isLarge);
  }

  /**
   * Calls `readLater` in a later turn. Connections that came too late for this turn go first, then
   * those that have had their share of one, each in the order of these calls.
   */
  later(connection: T, hasHadShare: boolean): void {
    this.#waiting.add(connection, hasHadShare);
    this.#armNext();
  }

  #armNext(): void {
    if (this.#isNextDue || this.#waiting.isEmpty || this.#host.isHalted()) return;
    this.#isNextDue = true;
    setImmediate(() => {
      this.#isNextDue = false;
      this.#host.wake();
      this.#waiting.serve(() => !this.#host.isHalted() && this.#budget.admits(this.#host.bytesSent()));
      this.#armNext();
    });
  }
}
