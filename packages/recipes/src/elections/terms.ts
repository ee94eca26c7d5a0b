import { BehaviorSubject, distinctUntilChanged, filter, map, type Observable } from "rxjs";
import { Deadline, type WaitOptions } from "../leases/deadline.ts";
import type { Lease } from "../leases/lease.ts";
import { firstOf, unlessAborted } from "../leases/waiting.ts";
import { RecipeError } from "../recipe-error.ts";

/** The terms of a candidate, one after the other, as those see them who ask whether it leads. */
export class Terms {
  readonly #what: string;
  readonly #term$ = new BehaviorSubject<Lease | undefined>(undefined);

  /** @param what for messages: `the latch on /a` */
  constructor(what: string) {
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

  /** Tells of a term. Resolves when it is over; what stands for it may still stand, unless it was the closing that ended it. */
  async lead(term: Lease, closing: AbortSignal): Promise<void> {
    // Lost before anybody was told.
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
      // One that was released is on its way; one that was lost may be had again.
      if (closing.aborted) await term.release();
    }
  }

  fail(error: unknown): void {
    this.#term$.error(error);
  }

  end(): void {
    this.#term$.complete();
  }

  closed(): RecipeError {
    return new RecipeError("RECIPE_CLOSED", `${this.#what} is closed`);
  }
}
