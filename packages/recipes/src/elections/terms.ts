import type { Client } from "@zooid/client";
import { BehaviorSubject, distinctUntilChanged, filter, map, type Observable } from "rxjs";
import { failStream } from "../failure-reports.ts";
import { Deadline, type WaitOptions } from "../leases/deadline.ts";
import type { Lease } from "../leases/lease.ts";
import { firstOf, unlessAborted } from "../leases/waiting.ts";
import { RecipeError } from "../recipe-error.ts";

/** The terms of a candidate, as streams and promises. */
export class Terms {
  readonly #zk: Client;
  readonly #what: string;
  #isEnded = false;
  readonly #term$ = new BehaviorSubject<Lease | undefined>(undefined);

  /** @param what for messages: `the latch on /a` */
  constructor(zk: Client, what: string) {
    this.#zk = zk;
    this.#what = what;
  }

  get isLeader(): boolean {
    return this.#term$.value?.isValid() ?? false;
  }

  get term$(): Observable<Lease | undefined> {
    return this.#term$.asObservable();
  }

  get isLeader$(): Observable<boolean> {
    return this.#term$.pipe(
      map((term) => term !== undefined),
      distinctUntilChanged(),
    );
  }

  async leadership(options: WaitOptions): Promise<Lease> {
    using deadline = new Deadline(options, `leadership by ${this.#what}`);
    const term = await firstOf(this.#term$.pipe(filter((term) => term !== undefined)), deadline.signal);
    if (term === undefined) throw this.closed();
    return term;
  }

  /**
   * Publishes a term and resolves when it is over. Its nodes may still exist, unless `closing`
   * ended it.
   */
  async lead(term: Lease, closing: AbortSignal): Promise<void> {
    // Lost before it was published.
    if (term.signal.aborted) return;
    const over = Promise.withResolvers<void>();
    const end = (): void => {
      this.#term$.next(undefined);
      over.resolve();
    };
    term.signal.addEventListener("abort", end, { once: true });
    this.#term$.next(term);
    try {
      await unlessAborted(over.promise, closing);
    } finally {
      // A released term is being deleted; a lost one may be granted again.
      if (closing.aborted) await term.release();
    }
  }

  fail(error: unknown): void {
    failStream(this.#zk, this.#term$, `${this.#what} has ended`, error);
  }

  end(): void {
    this.#isEnded = true;
    this.#term$.complete();
  }

  /** @throws RECIPE_CLOSED once there will be no further term */
  assertOpen(): void {
    if (this.#isEnded) throw this.closed();
  }

  closed(): RecipeError {
    return new RecipeError("RECIPE_CLOSED", `${this.#what} is closed`);
  }
}
