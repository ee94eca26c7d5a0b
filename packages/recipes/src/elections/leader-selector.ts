import { type Client, isZkError } from "@zooid/client";
import { checkArgument, rules, type Shape, shape } from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { FailureReports } from "../failure-reports.ts";
import { type WaitOptions, within } from "../leases/deadline.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { anySignal, OwnWork, WorkController } from "../leases/own-work.ts";
import { Attempts, isReasonOf } from "../leases/waiting.ts";
import { DIALECT, type LockDialect } from "../locks/dialect.ts";
import { Mutex } from "../locks/mutex.ts";
import { RecipeError } from "../recipe-error.ts";
import { type Candidate, candidatesOf } from "./leader-latch.ts";

export interface LeaderSelectorOptions extends HoldOptions {
  /** Id of this candidate for others. Default: this machine's address, as in Curator. */
  readonly id?: string;
  /** Whether it enters the queue again after each term. Default false: once. */
  readonly autoRequeue?: boolean;
  /** Naming of the nodes: `kazoo` to share them with kazoo's candidates. Default `curator`. */
  readonly dialect?: LockDialect | undefined;
  /**
   * Called with errors of `lead`, after which it continues. Without it such an error ends the
   * selector: there is a warning (`ZOOID_FAILED`), and `finished` throws it. Also called with the
   * permanent error that ends the selector. The reason of `lead`'s signal is no error.
   */
  readonly onError?: (error: unknown) => void;
}

/** Overrides for recipes that are built on a selector. */
export interface Selecting {
  /** Called with the error that ends it. */
  readonly failed: (error: unknown) => void;
}

/**
 * Leads until it returns. `signal` aborts when the term is lost, interrupted or closed: then it
 * must return soon.
 */
export type Lead = (term: Lease, signal: AbortSignal) => void | Promise<void>;

const SHAPE: Shape<LeaderSelectorOptions> = shape<LeaderSelectorOptions>({
  ...HOLD,
  id: rules.text,
  autoRequeue: rules.flag,
  dialect: DIALECT,
  onError: rules.callable,
});

/**
 * Elects one leader for the duration of its work: Curator's LeaderSelector, on the same znodes,
 * which are those of a mutex. A term begins only when the work of the previous one has returned,
 * here and elsewhere, as long as its session lives.
 */
export class LeaderSelector implements AsyncDisposable {
  readonly path: string;
  readonly #zk: Client;
  readonly #mutex: Mutex;
  readonly #lead: Lead;
  readonly #options: LeaderSelectorOptions;
  readonly #closing = new WorkController();
  readonly #own = new OwnWork();
  readonly #reports: FailureReports;
  readonly #failed: (error: unknown) => void;
  #interrupt: WorkController | undefined;
  #isQueued = false;
  #isRunning = false;
  #running: Promise<void> = Promise.resolve();

  constructor(zk: Client, path: string, lead: Lead, options?: LeaderSelectorOptions);
  /** @internal */
  constructor(zk: Client, path: string, lead: Lead, options: LeaderSelectorOptions, selecting: Selecting);
  constructor(zk: Client, path: string, lead: Lead, options: LeaderSelectorOptions = {}, selecting?: Selecting) {
    checkArguments("LeaderSelector", zk, path, options, SHAPE);
    checkArgument("LeaderSelector", "the work", lead, rules.callable);
    const { id, onSuspended, dialect } = options;
    this.path = path;
    this.#zk = zk;
    this.#lead = lead;
    this.#options = options;
    this.#reports = new FailureReports(zk, options.onError);
    this.#failed =
      selecting?.failed ?? ((error) => this.#reports.reportEnd(`the selector on ${path} has ended`, error));
    this.#mutex = new Mutex(zk, path, id === undefined ? { onSuspended, dialect } : { data: id, onSuspended, dialect });
  }

  /** Whether its work is running. */
  get isLeading(): boolean {
    return this.#interrupt !== undefined;
  }

  /**
   * Enters the queue, for one more term if it leads already. No effect while it is in the queue.
   *
   * @throws RECIPE_CLOSED
   */
  start(): void {
    this.#closing.signal.throwIfAborted();
    this.#isQueued = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#running = this.#run();
    // It was reported, and `finished` throws it.
    this.#running.catch(() => {});
  }

  /** Aborts the signal of the current work, if there is one. */
  interruptLeadership(): void {
    this.#interrupt?.abort(new RecipeError("LEASE_LOST", `leadership of ${this.path} was interrupted`));
  }

  /**
   * Resolves when it neither leads nor is in the queue.
   *
   * @throws the error of `lead`, without `onError`; permanent errors
   */
  async finished(): Promise<void> {
    await this.#running;
  }

  /** All candidates, the leader first. @throws RECIPE_CLOSED; `candidatesOf` joins nothing */
  async participants(): Promise<readonly Candidate[]> {
    this.#closing.signal.throwIfAborted();
    return await candidatesOf(this.#zk, this.path, "lock");
  }

  /**
   * Leaves the queue, interrupts the work and waits for it; from inside of the work it returns at
   * once, and the term ends with the work. May be repeated. An error of `lead` was reported when it
   * happened.
   */
  async close(options: WaitOptions = {}): Promise<void> {
    await within(this.#own.untilEnded(this.end().catch(() => {})), options, `close the selector on ${this.path}`);
  }

  /** @internal Closes it, and waits for its work wherever it is called. */
  end(): Promise<void> {
    this.#closing.abort(new RecipeError("RECIPE_CLOSED", `the selector on ${this.path} is closed`));
    return this.#running;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    try {
      while (this.#isQueued) {
        const term = await this.#nextTerm(this.#closing.signal);
        if (term === undefined) return;
        this.#isQueued = this.#options.autoRequeue ?? false;
        await this.#serve(term);
      }
    } catch (error) {
      this.#failed(error);
      throw error;
    } finally {
      this.#isRunning = false;
    }
  }

  /** Undefined when there will be none. */
  async #nextTerm(signal: AbortSignal): Promise<Lease | undefined> {
    const attempts = new Attempts(this.#zk);
    while (!signal.aborted) {
      try {
        return await this.#mutex.acquire({ signal });
      } catch (error) {
        if (signal.aborted || isZkError(error, "CLIENT_CLOSED")) return undefined;
        await attempts.failed(error, signal);
      }
    }
    return undefined;
  }

  async #serve(term: Lease): Promise<void> {
    const interrupt = new WorkController();
    this.#interrupt = interrupt;
    const signal = anySignal([term.signal, interrupt.signal, this.#closing.signal]);
    try {
      await this.#own.run(() => this.#lead(term, signal), signal);
    } catch (error) {
      if (isReasonOf(signal, error)) return;
      if (this.#options.onError === undefined) throw error;
      this.#reports.report(`the work of the selector on ${this.path} has failed`, error);
    } finally {
      this.#interrupt = undefined;
      await term.release();
    }
  }
}
