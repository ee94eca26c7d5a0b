import { setImmediate as nextTurn } from "node:timers/promises";

/** Work that is done step by step: each step is short. */
export type Steps<T> = Generator<void, T, undefined>;

const SLICE_MS = 2;
const STEPS_PER_LOOK = 32;

/**
 * Does long work in slices of 2 ms, one in a turn of the event loop, one work at a time: the
 * process may serve ZooKeeper's clients, too.
 */
export class Slices {
  #last: Promise<unknown> = Promise.resolve();

  async run<T>(steps: Steps<T>): Promise<T> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    try {
      await before;
      return await runSliced(steps);
    } finally {
      resolve();
    }
  }
}

async function runSliced<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    await nextTurn();
    const endMs = performance.now() + SLICE_MS;
    for (let count = 1; count % STEPS_PER_LOOK !== 0 || performance.now() < endMs; count++) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  }
}

/** All steps at once, for short work. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The lines of a text, as `split` gives them, without a copy of all of them. */
export function* linesOf(text: string): Generator<string, void, undefined> {
  let from = 0;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
    yield text.slice(from, end);
    from = end + 1;
  }
  yield text.slice(from);
}
