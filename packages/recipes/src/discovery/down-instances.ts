import { rules, type Shape, shape, wholeNumberRule } from "@zooid/model";

/** When to avoid an instance for a while: Curator's DownInstancePolicy. */
export interface DownInstancePolicy {
  /** Period in which errors count, from the first one on. Default 30 s. */
  readonly windowMs?: number;
  /** Number of errors. Default 2. */
  readonly errors?: number;
}

/** The rules for {@link DownInstancePolicy}. */
export const DOWN: Shape<DownInstancePolicy> = shape<DownInstancePolicy>({
  windowMs: rules.duration,
  errors: wholeNumberRule(1),
});

/** Instances with recent errors. */
export class DownInstances {
  readonly #windowMs: number;
  readonly #errors: number;
  readonly #now: () => number;
  readonly #noted = new Map<string, { readonly untilMs: number; errors: number }>();

  constructor({ windowMs = 30_000, errors = 2 }: DownInstancePolicy, now: () => number) {
    this.#windowMs = windowMs;
    this.#errors = errors;
    this.#now = now;
  }

  note(key: string): void {
    const nowMs = this.#now();
    for (const [known, { untilMs }] of this.#noted) if (untilMs <= nowMs) this.#noted.delete(known);
    const noted = this.#noted.get(key);
    if (noted === undefined) this.#noted.set(key, { untilMs: nowMs + this.#windowMs, errors: 1 });
    else noted.errors++;
  }

  isDown(key: string): boolean {
    const noted = this.#noted.get(key);
    return noted !== undefined && noted.errors >= this.#errors && noted.untilMs > this.#now();
  }
}
