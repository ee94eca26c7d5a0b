import { ReadQueue } from "./read-queue.ts";
import { TurnBudget } from "./turn-budget.ts";

interface Readable {
  /** Reads what an earlier turn had no room for. */
  readLater(): void;
}

interface ReadTurnsHost {
  /** Bytes of answers so far. */
  bytesSent(): number;
  /** What requests have cost so far, as the replica counts it. */
  workCount(): number;
  isHalted(): boolean;
  /** A turn begins, if none is open. */
  wake(): void;
}

/** Who is read in a turn of the event loop, for how long, and when the others have theirs. */
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

  /** Whether a connection that has something to be read now is read in this turn. */
  get hasRoom(): boolean {
    // Those that came too late for an earlier turn go first, or those that are ready again in each turn would take all of it.
    return !this.#waiting.hasLate && this.#budget.admits(this.#host.bytesSent());
  }

  isShareSpent(isLarge: boolean): boolean {
    return this.#budget.isShareSpent(this.#host.workCount(), isLarge);
  }

  /** A connection is to be read in a later turn. */
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
