import type { UsedTokens } from "./token-bucket.ts";

/** A lease of this process. */
interface LocalLease {
  left: number;
  lastUseMs: number;
  readonly tokens: number;
  readonly endMs: number;
  /** The credit of the bucket at which it was taken. */
  readonly credit: string;
}

/** The tokens that a process has leased, by a monotonic clock that its caller reads. */
export class LocalTokens {
  #leases: LocalLease[] = [];
  /** The last lease, and the uses since, to expect the next ones. */
  #last = { tokens: 0, used: 0, fromMs: 0, toMs: 0 };

  add(lease: Pick<LocalLease, "tokens" | "endMs" | "credit">, nowMs: number): void {
    // Of earlier credits only what can be used matters.
    this.#leases = this.#leases.filter(
      ({ credit, left, endMs }) => credit === lease.credit || (left > 0 && endMs > nowMs),
    );
    this.#leases.push({ ...lease, left: lease.tokens, lastUseMs: 0 });
    this.#last = { tokens: lease.tokens, used: 0, fromMs: nowMs, toMs: nowMs };
  }

  /** Uses tokens, those that end first before others; all of them or none. */
  use(count: number, nowMs: number): boolean {
    const valid = this.#leases.filter(({ endMs }) => endMs > nowMs).sort((a, b) => a.endMs - b.endMs);
    if (valid.reduce((sum, { left }) => sum + left, 0) < count) return false;
    let missing = count;
    for (const lease of valid) {
      const used = Math.min(lease.left, missing);
      if (used === 0) continue;
      lease.left -= used;
      lease.lastUseMs = nowMs;
      missing -= used;
    }
    this.#last.used += count;
    this.#last.toMs = nowMs;
    return true;
  }

  /** The tokens of the leases that were used at a credit, since the process knew of it. */
  usedSince(credit: string, knownMs: number): UsedTokens {
    const leases = this.#leases.filter((lease) => lease.credit === credit);
    const tokens = leases.reduce((sum, lease) => sum + lease.tokens - lease.left, 0);
    return { tokens, afterMs: Math.max(0, ...leases.map(({ lastUseMs }) => lastUseMs - knownMs)) };
  }

  /**
   * How many tokens will be used in a time: at the pace of the uses since the last lease, and at
   * most twice that lease.
   */
  expected(forMs: number): number {
    const { tokens, used, fromMs, toMs } = this.#last;
    return Math.min(2 * tokens, Math.ceil((used * forMs) / Math.max(toMs - fromMs, forMs / 8)));
  }
}
