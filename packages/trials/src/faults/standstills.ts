/**
 * Times at which this process did not run: the machine was suspended, or had no CPU left for it.
 * Servers and clients of the same machine stand still with it, so that such a time says nothing of
 * the servers.
 */
const LOOK_MS = 20;
/** A timer that is later than that was held up. */
const LATE_MS = 150;

export interface Standstill {
  /** By the machine's monotonic clock in nanoseconds. */
  readonly from: bigint;
  readonly to: bigint;
}

/** Notes standstills until it is disposed of. */
export class Standstills implements Disposable {
  readonly seen: Standstill[] = [];
  readonly #timer: NodeJS.Timeout;
  #lookedAt = process.hrtime.bigint();

  constructor() {
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const from = this.#lookedAt;
    this.#lookedAt = process.hrtime.bigint();
    if (Number(this.#lookedAt - from) / 1e6 > LOOK_MS + LATE_MS) this.seen.push({ from, to: this.#lookedAt });
  }
}

/** How much of a time was spent standing still, in nanoseconds. */
export function stoodStill(standstills: readonly Standstill[], from: bigint, to: bigint): bigint {
  let sum = 0n;
  for (const each of standstills) {
    const begin = each.from > from ? each.from : from;
    const end = each.to < to ? each.to : to;
    if (end > begin) sum += end - begin;
  }
  return sum;
}
