/** The form of a move as a machine: it yields acts, one at a time, and is given their replies. */

/** Acts by kind, each with its parameters and its answer. */
export type ActTable<A> = { readonly [K in keyof A]: { readonly ask: object; readonly answer: unknown } };

/** An act to be done, and the time that it may take. */
export type ActionOf<A extends ActTable<A>> = {
  [K in keyof A]: { readonly kind: K; readonly withinMs: number } & A[K]["ask"];
}[keyof A];

/**
 * A failure. `refused`: the other side has answered, and nothing was done; else that is not known.
 */
export interface Failed {
  readonly kind: "failed";
  readonly isRefused: boolean;
  readonly reason: string;
}

export type AnswerOf<A extends ActTable<A>, K extends keyof A> =
  | { readonly kind: "done"; readonly value: A[K]["answer"] }
  | Failed;

/** The edge's answer: one of the kind that was asked for, and the time. */
export interface ReplyOf<A extends ActTable<A>> {
  readonly answer: AnswerOf<A, keyof A>;
  readonly nowMs: number;
}

/** A step of the machine: an act, whose reply is given to it, or an event for the operator. */
export type YieldedOf<A extends ActTable<A>, E> = { readonly action: ActionOf<A> } | { readonly event: E };

/** Yields acts, and keeps the time of the last reply. */
export class ActAsking<A extends ActTable<A>, E> {
  #nowMs = 0;

  /** When the last reply came. */
  get nowMs(): number {
    return this.#nowMs;
  }

  *ask<K extends keyof A>(
    action: ActionOf<A> & { readonly kind: K },
  ): Generator<YieldedOf<A, E>, AnswerOf<A, K>, ReplyOf<A>> {
    const { answer, nowMs }: ReplyOf<A> = yield { action };
    this.#nowMs = nowMs;
    // The edge answers what it was asked for.
    return answer as AnswerOf<A, K>;
  }
}
