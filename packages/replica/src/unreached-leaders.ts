import type { ServerId } from "@zooid/model";

/** Elections in a row after which a leader that was not reached is avoided. */
const ATTEMPTS_MAX = 3;

/**
 * Leaders that were elected and not reached, again and again:
 *
 * 1. S3 has the best vote, and its quorum port cannot be reached: another program has it, or the
 *    files of S1 and S2 name another port.
 * 2. S1 and S2 elect S3 over the election ports, dial it, give up, and elect it again.
 *
 * After some elections S1 and S2 take S3 for no candidate for a while, and elect one of themselves,
 * as they would if S3 were down. S3 likewise, which no learner has reached, gives its vote to a
 * candidate: with S1 alone it could not lead either.
 */
export class UnreachedLeaders {
  readonly #avoidedMs: number;
  readonly #attempts = new Map<ServerId, number>();
  readonly #untilMs = new Map<ServerId, number>();

  /** @param avoidedMs time for which such a leader is avoided */
  constructor(avoidedMs: number) {
    this.#avoidedMs = avoidedMs;
  }

  /**
   * A leader was elected, and its role ended here before it was reached.
   *
   * @returns whether it is avoided from now on
   */
  failed(leader: ServerId, nowMs: number): boolean {
    const count = (this.#attempts.get(leader) ?? 0) + 1;
    this.#attempts.set(leader, count % ATTEMPTS_MAX);
    if (count < ATTEMPTS_MAX) return false;
    this.avoid(leader, nowMs);
    return true;
  }

  /**
   * A leader has a history that this server cannot read:
   *
   * 1. S1 and S2 of five log a raise of the feature level, which is not committed.
   * 2. S3, S4 and S5 go back to the version before. S2 has the best vote, and refuses them.
   *
   * Three of them would have no leader while S1 and S2 are there.
   */
  avoid(leader: ServerId, nowMs: number): void {
    this.#untilMs.set(leader, nowMs + this.#avoidedMs);
  }

  isAvoided(sid: ServerId, nowMs: number): boolean {
    return nowMs < (this.#untilMs.get(sid) ?? Number.NEGATIVE_INFINITY);
  }

  /**
   * A connection to this server came about: it may have other ports now.
   *
   * @returns whether it was avoided since it was last forgotten
   */
  forget(sid: ServerId): boolean {
    this.#attempts.delete(sid);
    return this.#untilMs.delete(sid);
  }

  /** This server has a leader, or the configuration has changed. */
  clear(): void {
    this.#attempts.clear();
    this.#untilMs.clear();
  }
}
