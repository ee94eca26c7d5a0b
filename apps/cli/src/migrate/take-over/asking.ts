import type { Action, ActKind, Answer, Reply, Yielded } from "./action.ts";

/** Yields acts, and keeps the time of the last reply. */
export class Asking {
  #nowMs = 0;

  /** When the last reply came. */
  get nowMs(): number {
    return this.#nowMs;
  }

  *ask<K extends ActKind>(action: Action & { readonly kind: K }): Generator<Yielded, Answer<K>, Reply> {
    const { answer, nowMs }: Reply = yield { action };
    this.#nowMs = nowMs;
    // The edge answers what it was asked for.
    return answer as Answer<K>;
  }
}
