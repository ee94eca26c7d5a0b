import type { ClientShare } from "@zooid/model";
import { ReadQueue } from "./read-queue.ts";
import { TurnBudget } from "./turn-budget.ts";
import { TurnOrder } from "./turn-order.ts";

interface Readable extends ClientShare {
  /** Reads what an earlier turn had no room for. */
  readLater(): void;
}

interface ReadTurnsHost {
  /** The part that connections of trusted proxies have together, as a fraction. */
  readonly proxiesShare: number;
  /** Bytes of answers so far. */
  bytesSent(): number;
  /** The work of all requests so far, as the replica counts it. */
  workCount(): number;
  isHalted(): boolean;
  /** A turn begins, if none is open. */
  wake(): void;
  /** Calls back after the sockets were polled. */
  later(callback: () => void): void;
}

/**
 * Shares each turn of the event loop between connections: which are read, for how long, and which
 * wait for a later turn.
 */
export class ReadTurns<T extends Readable> {
  readonly #host: ReadTurnsHost;
  readonly #budget: TurnBudget;
  readonly #order: TurnOrder;
  readonly #waiting: ReadQueue<T>;
  #isNextDue = false;

  constructor(host: ReadTurnsHost) {
    this.#host = host;
    const { proxiesShare } = host;
    const now = (): number => performance.now();
    this.#budget = new TurnBudget({ now, proxiesShare });
    this.#order = new TurnOrder({ now, proxiesShare });
    this.#waiting = new ReadQueue(this.#order);
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
  hasRoomFor({ share, isProxied }: ClientShare): boolean {
    // Connections that came too late for an earlier turn go first; else those with bytes in every
    // turn would take all of it. An address that owes time has its turn among those that wait.
    if (this.#waiting.hasLate || this.#order.owes(share)) return false;
    if (!this.#budget.admits(this.#host.bytesSent()) || (isProxied && !this.#budget.hasRoomForProxies)) return false;
    this.#budget.beginConnection(isProxied);
    return true;
  }

  /**
   * A request was executed.
   *
   * @param isLarge whether its frame or its answer was large
   * @returns whether its connection has had its share of the turn
   */
  isShareSpent({ share }: ClientShare, isLarge: boolean): boolean {
    const isSpent = this.#budget.isShareSpent(this.#host.workCount(), isLarge);
    if (isSpent && this.#budget.overshotMs > 0) this.#order.charge(share, this.#budget.overshotMs);
    return isSpent;
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
    this.#host.later(() => {
      this.#isNextDue = false;
      this.#host.wake();
      this.#waiting.serve(
        () => !this.#host.isHalted() && this.#budget.admits(this.#host.bytesSent()),
        ({ isProxied }) => this.#budget.beginConnection(isProxied),
      );
      this.#armNext();
    });
  }
}
