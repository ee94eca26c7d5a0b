import {
  checkArgument,
  checkFit,
  hasMethods,
  type Rule,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
  wordRule,
} from "@zooid/model";
import type { Observable } from "rxjs";
import { zkError } from "../errors.ts";

export interface IterateOptions {
  /** Ends the iteration; it throws the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Values that wait for the consumer. One more drops the oldest (`latest`: for streams of states,
   * with 1), or is an error of the iteration. Default 1000.
   */
  readonly bufferMax?: number;
  /** The act when the buffer is full. Default `error`. */
  readonly whenFull?: "error" | "latest";
}

const BUFFER_MAX = 1000;
const ITERATE: Shape<IterateOptions> = shape<IterateOptions>({
  signal: rules.signal,
  bufferMax: wholeNumberRule(1),
  whenFull: wordRule("error", "latest"),
});
const streamRule: Rule = {
  expected: "a stream with the method subscribe, such as zk.watchData$(path)",
  accepts: (value) => hasMethods(value, ["subscribe"]),
};

/**
 * A stream as an async iterable: `for await (const node of iterate(zk.watchData$("/a")))`. It
 * subscribes with the first `next()`; leaving the loop unsubscribes. Errors of the stream are
 * thrown in the loop.
 *
 * @throws QUEUE_FULL where the consumer is slower than the stream for too long
 */
export async function* iterate<T>(
  source$: Observable<T>,
  options: IterateOptions = {},
): AsyncGenerator<T, void, undefined> {
  checkArgument("iterate", "the source", source$, streamRule);
  checkFit("iterate", options, ITERATE);
  const { signal, bufferMax = BUFFER_MAX, whenFull = "error" } = options;
  signal?.throwIfAborted();
  const values: T[] = [];
  let end: { readonly error?: unknown; readonly isError: boolean } | undefined;
  let wake = (): void => {};
  const finish = (isError: boolean, error?: unknown): void => {
    end ??= { isError, error };
    wake();
  };
  const take = (value: T): void => {
    if (values.length >= bufferMax) {
      if (whenFull === "error") {
        const message = `iterate: ${bufferMax} values wait for the loop; take them faster, or set bufferMax or whenFull`;
        finish(true, zkError({ code: "QUEUE_FULL", op: "iterate", outcome: "not-sent", message }));
        return;
      }
      values.shift();
    }
    values.push(value);
    wake();
  };
  const subscription = source$.subscribe({
    next: take,
    error: (error) => finish(true, error),
    complete: () => finish(false),
  });
  const abort = (): void => finish(true, signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for (;;) {
      while (values.length > 0) yield values.shift() as T;
      if (end !== undefined) {
        if (end.isError) throw end.error;
        return;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    subscription.unsubscribe();
    signal?.removeEventListener("abort", abort);
  }
}
