import { ChangesScope, type Zxid } from "@zooid/model";
import type { ShownChanges } from "@zooid/wire";
import type { Observable, Subscriber, Subscription } from "rxjs";
import { GET_CHANGES } from "../calls/operation.ts";
import { retry } from "../calls/retry.ts";
import { startTimer, type Timer } from "../calls/timers.ts";
import { isZkError, renamedError, ZkError } from "../errors.ts";
import { askHistory, demandReached, type HistoryItem, itemsOf } from "../operations/past.ts";
import type { ViewPlace } from "../operations/view-place.ts";
import type { HostAddress } from "../servers/connect-string.ts";
import { isAmong } from "../servers/rebalance.ts";
import { observeEvents } from "./observe-events.ts";
import { rxjs } from "./rxjs-module.ts";

/** Every change up to this transaction has been emitted: the place to continue from. */
export interface ReachedChange {
  readonly kind: "reached";
  readonly zxid: Zxid;
}

export interface ChangesOptions {
  /** The transaction to begin behind. Default: where the history begins. */
  readonly after?: Zxid;
  /** Whether the changes of all nodes below count too. Default false. */
  readonly recursive?: boolean;
  /** Most changes in one request, 1 to 1000. Default 200. */
  readonly pageSize?: number;
}

const PAGE_SIZE = 200;
/**
 * A change is in the history some seconds after its event. This is the time from the first event to
 * a question; it doubles while the history has nothing new, and is halved when it has. Events that
 * come meanwhile make no questions of their own.
 */
const AGAIN_MS = 100;
const AGAIN_MS_MAX = 1000;
/** Without events. It keeps the place of a subtree that never changes from getting too old. */
const IDLE_MS = 60_000;

/** Reads pages after a watch has fired, until the history has what the watch was about. */
export function observeChanges(
  place: ViewPlace,
  path: string,
  options: ChangesOptions,
): Observable<HistoryItem | ReachedChange> {
  return new (rxjs().Observable)((subscriber) => {
    const changes = new ChangesReader(place, path, options, subscriber);
    return () => changes.stop();
  });
}

class ChangesReader {
  readonly #place: ViewPlace;
  readonly #path: string;
  readonly #body: { readonly countMax: number; readonly scope: number };
  readonly #subscriber: Subscriber<HistoryItem | ReachedChange>;
  readonly #stopped = new AbortController();
  readonly #events: Subscription;
  #after: Zxid;
  #reported: Zxid | undefined;
  #isPulling = false;
  /** Whether an event came since the last question was sent. */
  #isWoken = true;
  /** The zxid that the history must reach for the events that came. */
  #wanted = 0;
  /** The time from one question to the next, while the history has not what is wanted. */
  #againMs = AGAIN_MS;
  /** Servers whose history begins behind the next change, or lacks it. */
  #left: HostAddress[] = [];
  /** The refusal of the one of them whose history begins earliest. */
  #gone: ZkError | undefined;
  /** Whether one of them has a gap only, and whether that is taken, since no server has more. */
  #hasGap = false;
  #takesGap = false;
  /** Whether the timer is for the next of these questions. */
  #isAsking = false;
  #timer: Timer | undefined;

  constructor(
    place: ViewPlace,
    path: string,
    { after = 0 as Zxid, recursive = false, pageSize: countMax = PAGE_SIZE }: ChangesOptions,
    subscriber: Subscriber<HistoryItem | ReachedChange>,
  ) {
    this.#place = place;
    this.#path = path;
    this.#after = after;
    this.#subscriber = subscriber;
    this.#body = { countMax, scope: recursive ? ChangesScope.SUBTREE : ChangesScope.NODE };
    const mode = recursive ? "persistent-recursive" : "persistent";
    this.#events = observeEvents(place.driver, { root: place.root, path, mode }).subscribe({
      next: () => this.#wake(),
      error: (error) => this.#fail(error),
      complete: () => subscriber.complete(),
    });
    this.#pull();
  }

  stop(): void {
    this.#stopped.abort();
    this.#timer?.cancel();
    // It fails at once where the path is none.
    this.#events?.unsubscribe();
  }

  /** Something may have changed: an event, or a connection after a lost one. */
  #wake(): void {
    this.#isWoken = true;
    if (this.#isPulling || this.#isAsking || this.#stopped.signal.aborted) return;
    this.#againMs = AGAIN_MS;
    this.#askLater();
  }

  #askLater(): void {
    this.#isAsking = true;
    this.#pullAfter(this.#againMs);
  }

  #pullAfter(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = startTimer(delayMs, () => this.#pull(), { ref: false });
  }

  #pull(): void {
    if (this.#isPulling || this.#stopped.signal.aborted) return;
    this.#isPulling = true;
    this.#isAsking = false;
    this.#timer?.cancel();
    this.#readPages().then(
      () => this.#pulled(),
      (error: unknown) => this.#failed(error),
    );
  }

  async #readPages(): Promise<void> {
    for (let isLast = false; !isLast && !this.#stopped.signal.aborted; ) {
      const isWoken = this.#isWoken;
      this.#isWoken = false;
      const page = await this.#readPage();
      // The answer names the last transaction that the server had applied: the event's, or a
      // later one.
      if (isWoken) this.#wanted = this.#place.driver.session.lastZxid;
      if (page === undefined) return;
      if (this.#isWithGap(page) && this.#movesOn()) {
        this.#isWoken = true;
        continue;
      }
      this.#take(page);
      isLast = page.isLast;
    }
  }

  /** Undefined where no history is written yet. */
  async #readPage(): Promise<ShownChanges | undefined> {
    const options = { retry: retry.forever(100), signal: this.#stopped.signal };
    const body = { after: this.#after, ...this.#body };
    try {
      return await askHistory(this.#place, this.#path, { operation: GET_CHANGES, body, options });
    } catch (error) {
      const isBegun = this.#after > 0 && isZkError(error) && error.reach !== undefined;
      if (isZkError(error, "HISTORY_GONE") && !isBegun) return undefined;
      throw error;
    }
  }

  #take(page: ShownChanges): void {
    demandReached(page, this.#after, "changes$", this.#path);
    for (const item of itemsOf(this.#place.root, page)) this.#subscriber.next(item);
    this.#after = page.reached;
    [this.#left, this.#gone, this.#hasGap, this.#takesGap] = [[], undefined, false, false];
  }

  #isWithGap({ begins, gaps }: ShownChanges): boolean {
    const isGap = !this.#takesGap && gaps.length > 0 && this.#after >= begins;
    this.#hasGap ||= isGap;
    return isGap;
  }

  #pulled(): void {
    this.#isPulling = false;
    if (this.#stopped.signal.aborted) return;
    const hasNew = this.#after > 0 && this.#after !== this.#reported;
    if (hasNew) {
      this.#reported = this.#after;
      this.#subscriber.next({ kind: "reached", zxid: this.#after });
      if (this.#stopped.signal.aborted) return;
    }
    if (!this.#isWoken && this.#after >= this.#wanted) return this.#pullAfter(IDLE_MS);
    this.#askLater();
    this.#againMs = hasNew ? Math.max(AGAIN_MS, this.#againMs / 2) : Math.min(AGAIN_MS_MAX, 2 * this.#againMs);
  }

  #failed(error: unknown): void {
    this.#isPulling = false;
    if (this.#stopped.signal.aborted) return;
    // The next session has another connection, and the events a watch on it.
    if (isZkError(error, "SESSION_EXPIRED") && this.#place.driver.end === undefined) return this.#wake();
    // As long as there is no connection, a question fails from time to time.
    if (error instanceof ZkError && error.retriable && this.#place.driver.end === undefined) return this.#askLater();
    if (!isZkError(error, "HISTORY_GONE")) return this.#fail(error);
    const [first, earliest] = [error.reach?.first ?? 0, this.#gone?.reach?.first];
    if (earliest === undefined || first < earliest) this.#gone = error;
    if (this.#movesOn() || this.#movesToGap()) return this.#pull();
    this.#fail(this.#gone);
  }

  /** Looks for a server that has all but a gap. */
  #movesToGap(): boolean {
    if (!this.#hasGap || this.#takesGap) return false;
    this.#takesGap = true;
    this.#left = [];
    return this.#movesOn();
  }

  /**
   * Moves to a server that was not asked for the next change: each has a history of its own, which
   * begins later on a member that joined later.
   *
   * @returns false where each that can be reached was asked
   */
  #movesOn(): boolean {
    const { driver } = this.#place;
    const { connectedAddress } = driver.session;
    // Without a connection, the next one is to any server.
    if (connectedAddress === undefined) return true;
    if (isAmong(connectedAddress, this.#left)) return false;
    this.#left.push(connectedAddress);
    return driver.moveFrom(this.#left);
  }

  #fail(error: unknown): void {
    if (isZkError(error, "CLIENT_CLOSED")) this.#subscriber.complete();
    else this.#subscriber.error(error instanceof ZkError ? renamedError(error, "changes$", this.#path) : error);
  }
}
