/**
 * Answers of changes by their `Idempotency-Key`, so that a repeated request is carried out once.
 */
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
  /** Undefined while the request runs: then it is neither too old nor gives way to others. */
  endedMs: number | undefined;
}

export class IdempotentAnswers {
  readonly #kept = new Map<string, Kept>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * @param key of the user and the request; a request that comes while the first runs waits for it
   */
  async once(key: string, work: () => Promise<KeptAnswer>): Promise<KeptAnswer> {
    const known = this.#kept.get(key);
    if (known !== undefined && (known.endedMs === undefined || this.#nowMs() - known.endedMs < KEPT_MS))
      return known.answer;
    const kept: Kept = { answer: work(), endedMs: undefined };
    // Behind the others: the oldest gives way first.
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    this.#makeRoom();
    let isLasting = false;
    try {
      const { status, body } = await kept.answer;
      // A transient failure is tried again; a long answer is not kept.
      isLasting = status < 500 && status !== 429 && body.length <= BODY_CHARS_MAX;
    } finally {
      kept.endedMs = this.#nowMs();
      if (!isLasting) this.#kept.delete(key);
    }
    return kept.answer;
  }

  #makeRoom(): void {
    for (const [key, { endedMs }] of this.#kept) {
      if (this.#kept.size <= KEPT_MAX) return;
      if (endedMs !== undefined) this.#kept.delete(key);
    }
  }
}
