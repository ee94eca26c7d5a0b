/** Answers of changes by their `Idempotency-Key`, so that a repeated request is carried out once. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const KEPT_MAX = 1_000;
const KEPT_MS = 600_000;
const BODY_CHARS_MAX = 64 * 1024;

interface Kept {
  readonly answer: Promise<KeptAnswer>;
  readonly atMs: number;
}

export class IdempotentAnswers {
  readonly #kept = new Map<string, Kept>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** @param key of the user and the request; a request that comes while the first runs waits for it */
  async once(key: string, work: () => Promise<KeptAnswer>): Promise<KeptAnswer> {
    const nowMs = this.#nowMs();
    const known = this.#kept.get(key);
    if (known !== undefined && nowMs - known.atMs < KEPT_MS) return known.answer;
    const answer = work();
    this.#kept.set(key, { answer, atMs: nowMs });
    for (const old of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break;
      this.#kept.delete(old);
    }
    const found = await answer;
    // A transient failure is tried again; a long answer is not kept.
    if (found.status >= 500 || found.status === 429 || found.body.length > BODY_CHARS_MAX) this.#kept.delete(key);
    return found;
  }
}
