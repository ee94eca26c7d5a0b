/** Failed logins by key, an address or a user; each key has its own delay. */
interface Failures {
  count: number;
  lastMs: number;
}

const FREE_COUNT = 5;
const DELAY_MS = 1_000;
const DELAY_MS_MAX = 60_000;
const FORGOTTEN_MS = 600_000;
const KEYS_MAX = 10_000;

/**
 * Passwords are guessed slowly: after five failures of one address or one user the next login waits,
 * twice as long after each further failure.
 */
export class LoginThrottle {
  readonly #failures = new Map<string, Failures>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Milliseconds until a login with these keys is accepted again; 0: now. */
  waitMs(keys: readonly string[]): number {
    const nowMs = this.#nowMs();
    return Math.max(0, ...keys.map((key) => this.#waitOf(this.#failures.get(key), nowMs)));
  }

  failed(keys: readonly string[]): void {
    const nowMs = this.#nowMs();
    for (const key of keys) {
      const known = this.#failures.get(key);
      this.#failures.delete(key);
      const isOld = known === undefined || nowMs - known.lastMs > FORGOTTEN_MS;
      this.#failures.set(key, { count: isOld ? 1 : known.count + 1, lastMs: nowMs });
    }
    for (const key of this.#failures.keys()) {
      if (this.#failures.size <= KEYS_MAX) break;
      this.#failures.delete(key);
    }
  }

  succeeded(keys: readonly string[]): void {
    for (const key of keys) this.#failures.delete(key);
  }

  #waitOf(failures: Failures | undefined, nowMs: number): number {
    if (failures === undefined || failures.count < FREE_COUNT) return 0;
    const delayMs = Math.min(DELAY_MS_MAX, DELAY_MS * 2 ** (failures.count - FREE_COUNT));
    return failures.lastMs + delayMs - nowMs;
  }
}
