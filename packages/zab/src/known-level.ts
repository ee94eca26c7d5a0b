import {
  knowsLevel,
  type LevelRaise,
  type LevelRange,
  type LogState,
  levelAt,
  NO_RAISE,
  type Zxid,
} from "@zooid/model";

/**
 * The feature level of the ensemble, as far as this server knows it: the last raise that its log
 * has seen, which comes into force when its entry is committed.
 *
 * With a level that counts from the append on:
 *
 * 1. S1 leads and logs a raise to level 2. It writes an entry of that level behind it, and its
 *    state file in the form of that level. Then it is cut off.
 * 2. S2 and S3 continue without the raise.
 * 3. The operator gives the upgrade up. The earlier version cannot read what S1 has on its disk.
 *
 * Invariant: the level in force never falls.
 */
export class KnownLevel {
  /** The levels that this server knows. */
  readonly known: LevelRange;
  #raise: LevelRaise;
  #inForce = 1;
  /** An entry that raises the level was prepared: it is in one of the next batches. */
  isExpected = false;

  /** @param durable what the log holds */
  constructor(known: LevelRange, durable: LogState) {
    this.known = known;
    this.#raise = durable.levelRaise ?? NO_RAISE;
  }

  /** The last raise that the log has seen. */
  get raise(): LevelRaise {
    return this.#raise;
  }

  /** The level in force where everything up to a zxid is known to be committed. */
  inForce(committed: Zxid): number {
    this.#inForce = Math.max(this.#inForce, levelAt(this.#raise, committed));
    return this.#inForce;
  }

  /** Whether this server can have entries of a level in its log. */
  knows(level: number): boolean {
    return knowsLevel(this.known, level);
  }

  /** An entry is logged that raises the level, or repeats it. */
  see(level: number, zxid: Zxid): LevelRaise {
    this.isExpected = false;
    if (level > this.#raise.level) this.#raise = { level, zxid, replaced: this.#raise.level };
    return this.#raise;
  }

  /** A leader's history replaces this server's: a raise that the history lacks is cut. */
  install(raise: LevelRaise): void {
    this.#raise = raise;
    this.isExpected = false;
  }
}
