import { AsyncResource } from "node:async_hooks";
import { promisify } from "node:util";
import type { VirtualTime } from "./virtual-time.ts";

// For timers that were set before time became virtual; it clears intervals and immediates too.
const realClearTimeout = globalThis.clearTimeout;

type Callback = (...args: unknown[]) => void;

/** Node's longest timer; a longer one counts as 1 ms. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** A timer as Node's `Timeout` and `Immediate`. */
class VirtualTimer {
  readonly #start: (timer: VirtualTimer) => void;
  readonly #idOf: (timer: VirtualTimer) => number;
  #hasRef = true;
  /** Goes up whenever what was scheduled before is not to happen. */
  round = 0;

  constructor(start: (timer: VirtualTimer) => void, idOf: (timer: VirtualTimer) => number) {
    this.#start = start;
    this.#idOf = idOf;
    start(this);
  }

  ref(): this {
    this.#hasRef = true;
    return this;
  }

  unref(): this {
    this.#hasRef = false;
    return this;
  }

  hasRef(): boolean {
    return this.#hasRef;
  }

  refresh(): this {
    this.round++;
    this.#start(this);
    return this;
  }

  close(): this {
    this.round++;
    return this;
  }

  [Symbol.toPrimitive](): number {
    return this.#idOf(this);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

interface PromiseOptions {
  readonly signal?: AbortSignal;
}

/** Node's timers, on virtual time. A timer that throws fails the run that lets time pass. */
export class VirtualTimers {
  readonly #time: VirtualTime;
  /** Timers whose number was asked for, which they can be cleared by. */
  readonly #byId = new Map<number, VirtualTimer>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  readonly setTimeout = (run: Callback, delayMs?: number, ...args: unknown[]): VirtualTimer => {
    checkCallback(run);
    return this.#start(() => run(...args), { delayMs: delayOf(delayMs), repeats: false });
  };

  readonly setInterval = (run: Callback, delayMs?: number, ...args: unknown[]): VirtualTimer => {
    checkCallback(run);
    return this.#start(() => run(...args), { delayMs: delayOf(delayMs), repeats: true });
  };

  readonly setImmediate = (run: Callback, ...args: unknown[]): VirtualTimer => {
    checkCallback(run);
    return this.#start(() => run(...args), { delayMs: 0, repeats: false });
  };

  readonly clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.close();
    else if (typeof timer === "object") realClearTimeout((timer ?? undefined) as NodeJS.Timeout | undefined);
    else this.#byId.get(Number(timer))?.close();
  };

  /** `setTimeout` of `node:timers/promises`. */
  readonly pause = <T>(delayMs?: number, value?: T, options: PromiseOptions = {}): Promise<T> =>
    this.#promise(delayOf(delayMs), value as T, options);

  /** `setImmediate` of `node:timers/promises`. */
  readonly immediate = <T>(value?: T, options: PromiseOptions = {}): Promise<T> =>
    this.#promise(0, value as T, options);

  /** `setInterval` of `node:timers/promises`. */
  readonly interval = <T>(delayMs?: number, value?: T, options: PromiseOptions = {}): AsyncGenerator<T> =>
    this.#pauses(delayMs, value as T, options);

  /** `AbortSignal.timeout`. */
  readonly abortAfter = (delayMs: number): AbortSignal => {
    const controller = new AbortController();
    const reason = new DOMException("The operation was aborted due to timeout", "TimeoutError");
    this.setTimeout(() => controller.abort(reason), delayMs);
    return controller.signal;
  };

  #start(run: () => void, { delayMs, repeats }: { readonly delayMs: number; readonly repeats: boolean }): VirtualTimer {
    this.#time.expectRun();
    // As Node does it: what the timer runs sees the AsyncLocalStorage of the one who set it.
    const bound = AsyncResource.bind(run);
    const timer = new VirtualTimer((started) => {
      const { round } = started;
      this.#time.after(delayMs, () => {
        if (started.round !== round) return;
        this.#time.touch();
        if (repeats) started.refresh();
        bound();
      });
    }, this.#idOf);
    return timer;
  }

  readonly #idOf = (timer: VirtualTimer): number => {
    for (const [id, each] of this.#byId) if (each === timer) return id;
    const id = this.#byId.size + 1;
    this.#byId.set(id, timer);
    return id;
  };

  async *#pauses<T>(delayMs: number | undefined, value: T, options: PromiseOptions): AsyncGenerator<T> {
    for (;;) yield await this.pause(delayMs, value, options);
  }

  #promise<T>(delayMs: number, value: T, { signal }: PromiseOptions): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const aborted = (): void => {
        timer.close();
        reject(new AbortError(signal?.reason));
      };
      const timer = this.#start(
        () => {
          signal?.removeEventListener("abort", aborted);
          resolve(value);
        },
        { delayMs, repeats: false },
      );
      if (signal?.aborted) aborted();
      else signal?.addEventListener("abort", aborted, { once: true });
    });
  }
}

/** Node's own, which has no public constructor. */
class AbortError extends Error {
  override readonly name = "AbortError";
  readonly code = "ABORT_ERR";

  constructor(cause: unknown) {
    super("The operation was aborted", { cause });
  }
}

/** As Node treats it. */
function delayOf(delayMs = 1): number {
  return delayMs >= 1 && delayMs <= TIMER_MS_MAX ? delayMs : 1;
}

function checkCallback(run: unknown): void {
  if (typeof run !== "function") throw new TypeError(`a timer's callback is a function, found ${typeof run}`);
}

/** The function that `util.promisify(setTimeout)` gives. */
export function withPromise<F extends object>(timer: F, promise: unknown): F {
  return Object.assign(timer, { [promisify.custom]: promise });
}
