import type { Client } from "@zooid/client";
import type { Subject } from "rxjs";
import { errorCode, errorStack, errorText } from "./error-text.ts";
import { reportError } from "./report-error.ts";
import { warn } from "./warn.ts";

/** Time between two warnings of one recipe: work that fails each time it is tried floods no log. */
const QUIET_MS = 10_000;

/**
 * Reports failures of callers' work, and of a recipe's own requests, once and when they happen: to
 * the caller's listener, or without one as a warning.
 */
export class FailureReports<More extends readonly unknown[] = []> {
  readonly #zk: Client;
  readonly #listener: ((error: unknown, ...more: More) => unknown) | undefined;
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #leftOutCount = 0;

  /** @param listener gets the error, and further arguments of its recipe */
  constructor(zk: Client, listener: ((error: unknown, ...more: More) => unknown) | undefined) {
    this.#zk = zk;
    this.#listener = listener;
  }

  /**
   * Reports a failure after which the recipe continues; a warning counts those that came within ten
   * seconds of the last one.
   */
  report(what: string, error: unknown, ...more: More): void {
    if (this.#listener !== undefined) return this.#notify(error, more);
    const nowMs = performance.now();
    if (nowMs < this.#quietUntilMs) {
      this.#leftOutCount++;
      return;
    }
    this.#quietUntilMs = nowMs + QUIET_MS;
    this.#warn(this.#leftOutCount === 0 ? what : `${what} (and ${this.#leftOutCount} before this)`, error);
    this.#leftOutCount = 0;
  }

  /** Reports the failure that ends the recipe. */
  reportEnd(what: string, error: unknown, ...more: More): void {
    if (this.#listener === undefined) this.#warn(what, error);
    else this.#notify(error, more);
  }

  #notify(error: unknown, more: More): void {
    reportError((reported) => this.#listener?.(reported, ...more), error);
  }

  #warn(what: string, error: unknown): void {
    warn(this.#zk, "ZOOID_FAILED", `${what}: ${errorText(error)}`, {
      error: errorCode(error),
      stack: errorStack(error),
    });
  }
}

type Failing = Pick<Subject<unknown>, "observed" | "error">;

/**
 * Ends a recipe's stream with the permanent error that ends the recipe. Where the stream has no
 * subscriber, and no call waits on it, nothing else would show the end: then there is a warning.
 *
 * @param what the recipe and its path, and that it has ended
 */
export function failStream(zk: Client, stream$: Failing, what: string, error: unknown): void {
  if (!stream$.observed) new FailureReports(zk, undefined).reportEnd(what, error);
  stream$.error(error);
}
