import type { Scheduler } from "@zooid/simulator";

// Taken before anybody replaces them.
const realSetImmediate = globalThis.setImmediate;
const realSetTimeout = globalThis.setTimeout;
const realClearTimeout = globalThis.clearTimeout;

/**
 * Real milliseconds for which virtual time stands still while a client waits, before a warning is
 * printed.
 */
const STANDSTILL_MS = 2_000;

/** A promise that virtual time passes for. */
interface Run {
  readonly untilMs: number;
  readonly reject: (error: unknown) => void;
  /** The error for a run that is not settled by then. */
  readonly late: () => Error;
}

/**
 * Virtual time as users' code sees it. It passes only while a {@link run} is not settled: the next
 * event happens when everything that follows from the one before has happened, which is when the
 * event loop has no microtask left.
 */
export class VirtualTime {
  readonly scheduler: Scheduler;
  readonly #runs = new Set<Run>();
  /** Whether something has happened that a promise may depend on. */
  #isTouched = true;
  #isPassing = false;
  /** Work outside virtual time that is waited for. */
  #realCount = 0;
  #standstill: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler;
  }

  get nowMs(): number {
    return this.scheduler.nowMs;
  }

  /** User code is about to be called: time does not pass until it has no microtask left. */
  touch(): void {
    this.#isTouched = true;
  }

  /** Virtual time is waited for: without a run it would be forever. */
  expectRun(): void {
    if (this.#runs.size > 0 || this.#isOver || this.#standstill !== undefined) return;
    this.#standstill = realSetTimeout(() => {
      process.emitWarning(
        "virtual time stands still while a client of a TestEnsemble waits: await it inside of ensemble.run(async () => …)",
        { code: "ZOOID_TESTING_STANDSTILL" },
      );
    }, STANDSTILL_MS);
    this.#standstill.unref();
  }

  after(delayMs: number, run: () => void): void {
    this.scheduler.after(delayMs, run);
  }

  /**
   * Lets time pass until the work is settled; rejects if that takes longer than `deadlineMs` of it.
   */
  run<T>(work: () => T | PromiseLike<T>, deadlineMs: number, late: () => Error): Promise<T> {
    if (this.#isOver) return Promise.reject(new Error("the ensemble is closed: virtual time does not pass any more"));
    this.#isTouched = true;
    return new Promise<T>((resolve, reject) => {
      const run: Run = { untilMs: this.nowMs + deadlineMs, reject, late };
      this.#runs.add(run);
      const promise = new Promise<T>((begun) => begun(work()));
      promise.then(
        (value) => {
          this.#runs.delete(run);
          resolve(value);
        },
        (error: unknown) => {
          this.#runs.delete(run);
          reject(error);
        },
      );
      void this.#pass();
    });
  }

  /** Stops time until the work, which happens outside of virtual time, is settled. */
  async real<T>(work: () => T | PromiseLike<T>): Promise<T> {
    this.#realCount++;
    try {
      return await work();
    } finally {
      this.#realCount--;
      this.#isTouched = true;
    }
  }

  /** Ends every run with this error. */
  fail(error: unknown): void {
    for (const run of this.#runs) run.reject(error);
    this.#runs.clear();
  }

  /** Time never passes again. */
  end(): void {
    this.#isOver = true;
    realClearTimeout(this.#standstill);
    this.fail(new Error("the ensemble was closed while this was waited for"));
  }

  async #pass(): Promise<void> {
    if (this.#isPassing) return;
    this.#isPassing = true;
    realClearTimeout(this.#standstill);
    this.#standstill = undefined;
    try {
      while (this.#runs.size > 0) {
        if (this.#isTouched || this.#realCount > 0) {
          this.#isTouched = false;
          await new Promise<void>((resolve) => void realSetImmediate(resolve));
        } else this.#next();
      }
    } finally {
      this.#isPassing = false;
    }
  }

  #next(): void {
    let untilMs = Infinity;
    for (const run of this.#runs) untilMs = Math.min(untilMs, run.untilMs);
    try {
      if (this.scheduler.runNext(untilMs)) return;
    } catch (error) {
      // Thrown by a timer of the user, for instance, which would end the process in real time.
      this.fail(error);
      return;
    }
    for (const run of this.#runs) {
      if (run.untilMs > untilMs) continue;
      this.#runs.delete(run);
      run.reject(run.late());
    }
    this.#isTouched = true;
  }
}
