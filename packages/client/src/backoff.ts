/** Time between rounds over the host list: exponential, with full jitter, so that a thousand clients do not come back at once. */
export interface Backoff {
  /** How long to wait before the next round, in milliseconds; longer with each that fails. */
  nextDelayMs(): number;
  /** A round has succeeded. */
  reset(): void;
}

/** @param random between 0 and 1 */
export function newBackoff({
  baseMs,
  maxMs,
  random,
}: {
  readonly baseMs: number;
  readonly maxMs: number;
  readonly random: () => number;
}): Backoff {
  let round = 0;
  return {
    nextDelayMs(): number {
      const ceilingMs = Math.min(maxMs, baseMs * 2 ** Math.min(round++, 20));
      return random() * ceilingMs;
    },
    reset(): void {
      round = 0;
    },
  };
}
