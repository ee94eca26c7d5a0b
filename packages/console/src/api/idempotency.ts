/**
 * Answers of changes by their `Idempotency-Key`, so that a repeated request is carried out once.
 */
import { refuse } from "../http/problem.ts";

export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const KEPT_MAX = 1_000;
const KEPT_MS = 600_000;
const BODY_CHARS_MAX = 64 * 1024;

/** A request with a key. */
export interface KeyedRequest {
  /** The key, made different for each user. */
  readonly key: string;
  /** A hash of the request, equal for equal requests only. */
  readonly request: string;
}

interface Kept {
  readonly request: string;
  answer: Promise<KeptAnswer>;
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
   * A request that comes while the first with its key runs waits for it.
   *
   * @throws ProblemError IDEMPOTENCY_KEY_REUSED for another request than the first with the key
   */
  async once({ key, request }: KeyedRequest, work: () => Promise<KeptAnswer>): Promise<KeptAnswer> {
    const known = this.#kept.get(key);
    if (known !== undefined && (known.endedMs === undefined || this.#nowMs() - known.endedMs < KEPT_MS)) {
      if (known.request === request) return known.answer;
      const detail = "Idempotency-Key: expected a new key, found one that came with another request before";
      throw refuse(422, "IDEMPOTENCY_KEY_REUSED", "Each change has a key of its own", { detail, outcome: "not-sent" });
    }
    const kept: Kept = { request, answer: work(), endedMs: undefined };
    // Behind the others: the oldest gives way first.
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    this.#makeRoom();
    let isLasting = false;
    try {
      const answer = await kept.answer;
      // A transient failure is tried again.
      isLasting = answer.status < 500 && answer.status !== 429;
      if (answer.body.length > BODY_CHARS_MAX) kept.answer = Promise.resolve(shortened(answer));
      return answer;
    } finally {
      kept.endedMs = this.#nowMs();
      if (!isLasting) this.#kept.delete(key);
    }
  }

  #makeRoom(): void {
    for (const [key, { endedMs }] of this.#kept) {
      if (this.#kept.size <= KEPT_MAX) return;
      if (endedMs !== undefined) this.#kept.delete(key);
    }
  }
}

/** A repeated request gets the outcome, though not the long answer. */
function shortened({ status, headers }: KeptAnswer): KeptAnswer {
  const title = status < 400 ? "The change was carried out before" : "The change was refused before";
  const detail = `its answer had more than ${BODY_CHARS_MAX} characters, and was not kept`;
  return { status, headers, body: JSON.stringify({ code: "ANSWER_NOT_KEPT", status, title, detail }) };
}
