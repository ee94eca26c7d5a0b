/**
 * This process's time as a schedule: timers, the monotonic clock and chance come from a seed, so
 * that clients run among simulated servers as those do. For a process that does nothing else.
 */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import type { Prng, Scheduler } from "@zooid/simulator";

const realImmediate = globalThis.setImmediate;

/** A timer as Node's is used here. */
class VirtualTimer {
  isCancelled = false;

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

export class VirtualTime {
  #scheduler: Scheduler | undefined;
  #chance: Prng | undefined;
  /** Something has run that a promise may follow from. */
  #isTouched = true;

  /** From now on. There is no way back. */
  install(): void {
    const after = (run: () => void, delayMs: number): VirtualTimer => {
      const timer = new VirtualTimer();
      this.scheduler.after(delayMs, () => {
        if (timer.isCancelled) return;
        this.#isTouched = true;
        run();
      });
      return timer;
    };
    const cancel = (timer: unknown): void => {
      if (timer instanceof VirtualTimer) timer.isCancelled = true;
    };
    const set = (run: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]): VirtualTimer =>
      after(() => run(...args), Math.max(1, delayMs));
    const immediate = (run: (...args: unknown[]) => void, ...args: unknown[]): VirtualTimer =>
      after(() => run(...args), 0);
    const pause = <T>(
      delayMs = 1,
      value?: T,
      options: { readonly signal?: AbortSignal } = {},
    ): Promise<T | undefined> =>
      new Promise((resolve, reject) => {
        const { signal } = options;
        const give = (): void => {
          cancel(timer);
          reject(new DOMException("The operation was aborted", "AbortError"));
        };
        const timer = after(
          () => {
            signal?.removeEventListener("abort", give);
            resolve(value);
          },
          Math.max(1, delayMs),
        );
        if (signal?.aborted) give();
        else signal?.addEventListener("abort", give, { once: true });
      });
    Object.assign(globalThis, {
      setTimeout: set,
      clearTimeout: cancel,
      setImmediate: immediate,
      clearImmediate: cancel,
    });
    Object.assign(timers, { setTimeout: pause });
    Object.defineProperty(performance, "now", { value: () => this.scheduler.nowMs });
    Math.random = () => this.#random();
    Object.assign(crypto, { randomUUID: () => this.#uuid() });
    syncBuiltinESMExports();
  }

  /** Begins another schedule; what the one before has left never happens. */
  begin(scheduler: Scheduler, chance: Prng): void {
    this.#scheduler = scheduler;
    this.#chance = chance;
    this.#isTouched = true;
  }

  touch(): void {
    this.#isTouched = true;
  }

  /** Lets time pass until a promise is settled, and not longer than so much of it. */
  async run<T>(promise: Promise<T>, untilMs: number): Promise<T> {
    let isSettled = false;
    const settled = (): void => {
      isSettled = true;
    };
    promise.then(settled, settled);
    for (;;) {
      if (this.#isTouched) {
        this.#isTouched = false;
        // All that follows from what has happened, before what comes next.
        await new Promise<void>((resolve) => void realImmediate(resolve));
      }
      if (isSettled) return promise;
      if (!this.scheduler.runNext(untilMs)) throw new Error(`nothing has come of it in ${untilMs} virtual ms`);
    }
  }

  get scheduler(): Scheduler {
    if (this.#scheduler === undefined) throw new Error("time has not begun");
    return this.#scheduler;
  }

  #random(): number {
    return (this.#chance?.next() ?? 0) / 2 ** 32;
  }

  #uuid(): string {
    const hex = Buffer.from(this.#chance?.bytes(16) ?? []).toString("hex");
    return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)].join(
      "-",
    );
  }
}
