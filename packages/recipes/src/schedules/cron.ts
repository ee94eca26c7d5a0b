import { hostname } from "node:os";
import { type Client, isZkError, type Zxid } from "@zooid/client";
import {
  anyRule,
  checkRecord,
  joinPath,
  type Rule,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
  wordRule,
} from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { LeaderSelector } from "../elections/leader-selector.ts";
import { FailureReports } from "../failure-reports.ts";
import { type WaitOptions, within } from "../leases/deadline.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { OwnWork } from "../leases/own-work.ts";
import { Attempts, clientPause, isReasonOf } from "../leases/waiting.ts";
import { makeNamed, put } from "../nodes/named-node.ts";
import { decodedValue } from "../nodes/values.ts";
import { RecipeError } from "../recipe-error.ts";
import { cronTimes } from "./cron-expression.ts";
import { type CronRecord, recordCodec } from "./cron-record.ts";
import { dueRuns, type MissedPolicy, type Times } from "./due-runs.ts";

/**
 * When there are runs: a cron expression of five fields in UTC, an interval, whose times are
 * multiples of it since 1970, or a function that gives the first time after another, for time zones
 * and everything else. Times are in milliseconds since 1970.
 */
export type CronSchedule = string | { readonly everyMs: number } | ((afterMs: number) => number);

export interface CronOptions extends HoldOptions {
  /** The treatment of times at which there was no run. Default `skip`. */
  readonly missed?: MissedPolicy;
  /** How late a run may be, with `missed: "skip"`, in milliseconds. Default one minute. */
  readonly lateMs?: number;
  /**
   * Whether a run whose process has died is repeated. Default `skip`: at most one run for each
   * time.
   */
  readonly interrupted?: "skip" | "repeat";
  /** Id of this process for others. Default: the host's name and the process id. */
  readonly id?: string;
  /**
   * Called with errors of the work, after which the schedule continues. Without it such an error
   * ends the schedule in this process: there is a warning (`ZOOID_FAILED`), and `finished` throws
   * it. Also called with the permanent error that ends the schedule here. The reason of the work's
   * signal is no error.
   */
  readonly onError?: (error: unknown) => void;
}

/** One run. */
export interface CronRun {
  /** The time of the schedule that it is for, in milliseconds since 1970. */
  readonly dueMs: number;
  /**
   * A fencing token that grows with each run: a store can refuse requests with a smaller one than
   * it has seen.
   */
  readonly token: Zxid;
  /** 1, and more where it is repeated. */
  readonly attempt: number;
  /** The right to run; `guard()` makes a transaction fail when another process has it. */
  readonly lease: Lease;
}

/**
 * The work of a run. `signal` aborts when another process may begin the next run; then it must
 * return soon.
 */
export type CronWork = (run: CronRun, signal: AbortSignal) => unknown;

const everyRule: Rule = { ...rules.record, expected: "a cron expression, a function, or { everyMs }" };
const EVERY: Shape<{ everyMs: number }> = shape<{ everyMs: number }>({
  everyMs: wholeNumberRule(1, Number.MAX_SAFE_INTEGER),
});

const SHAPE: Shape<CronOptions & { schedule: unknown; work: unknown }> = shape({
  ...HOLD,
  missed: wordRule("skip", "latest", "all"),
  lateMs: rules.duration,
  interrupted: wordRule("skip", "repeat"),
  id: rules.text,
  onError: rules.callable,
  schedule: anyRule(everyRule, rules.text, rules.callable),
  work: rules.callable,
});

/** The clock of the server is read again after this time at the latest, since it may be set. */
const CLOCK_MS_MAX = 300_000;
const AGAIN_MS = 100;

/**
 * Runs work at the times of a schedule, once in the cluster for each: one process leads, by a lock,
 * and another takes over when it dies. Times are those of the servers' clock, so the clocks of the
 * processes do not matter.
 */
export class Cron implements AsyncDisposable {
  readonly path: string;
  readonly #zk: Client;
  readonly #times: Times;
  readonly #work: CronWork;
  readonly #options: CronOptions;
  readonly #id: string;
  readonly #selector: LeaderSelector;
  readonly #own = new OwnWork();
  readonly #reports: FailureReports;
  /** A claim whose answer was lost: its work has not begun. */
  #unstarted: string | undefined;
  #isClosed = false;

  constructor(
    zk: Client,
    path: string,
    given: CronOptions & { readonly schedule: CronSchedule; readonly work: CronWork },
  ) {
    checkArguments("Cron", zk, path, given, SHAPE, ["schedule", "work"]);
    const { schedule, work, ...options } = given;
    this.#zk = zk;
    this.path = path;
    this.#times = timesOf(schedule);
    this.#work = work;
    this.#options = options;
    this.#id = options.id ?? `${hostname()}-${process.pid}`;
    this.#reports = new FailureReports(zk, options.onError);
    const lead = (term: Lease, signal: AbortSignal): Promise<void> => this.#lead(term, signal);
    const selecting = { id: this.#id, onSuspended: options.onSuspended, autoRequeue: true };
    this.#selector = new LeaderSelector(zk, joinPath(path, "leader"), lead, selecting, {
      failed: (error) => {
        if (!(error instanceof WorkError)) this.#reports.reportEnd(this.#ending, error);
      },
    });
    this.#selector.start();
  }

  /** Whether this process has the runs at this moment. */
  get isLeading(): boolean {
    return this.#selector.isLeading;
  }

  /**
   * The last run in the cluster; undefined before the schedule was first served. @throws
   * RECIPE_CLOSED
   */
  async last(): Promise<CronRecord | undefined> {
    if (this.#isClosed) throw new RecipeError("RECIPE_CLOSED", `the schedule on ${this.path} is closed`);
    return (await this.#read())?.record;
  }

  /**
   * Resolves when it is closed. @throws the error of the work, without `onError`; permanent errors
   */
  async finished(): Promise<void> {
    try {
      await this.#selector.finished();
    } catch (error) {
      throw error instanceof WorkError ? error.cause : error;
    }
  }

  /**
   * Aborts a run and waits for its work, and leaves the schedule to others; from inside of the work
   * it returns at once. May be repeated. An error of the work was reported when it happened.
   */
  async close(options: WaitOptions = {}): Promise<void> {
    this.#isClosed = true;
    await within(
      this.#own.untilEnded(this.#selector.end().catch(() => {})),
      options,
      `close the schedule on ${this.path}`,
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #lead(lease: Lease, signal: AbortSignal): Promise<void> {
    const attempts = new Attempts(this.#zk);
    while (!signal.aborted) {
      try {
        await this.#serve(lease, signal);
      } catch (error) {
        if (error instanceof WorkError) throw error;
        if (signal.aborted) return;
        if (!isZkError(error)) throw error;
        // The record or the lock is another process's: the signal follows, or the record is read
        // again.
        const isOvertaken = error.code === "BAD_VERSION" || error.code === "NO_NODE";
        if (isOvertaken) await clientPause(this.#zk, AGAIN_MS, signal).catch(() => {});
        else await attempts.failed(error, signal);
      }
    }
  }

  async #serve(lease: Lease, signal: AbortSignal): Promise<void> {
    const { missed = "skip", lateMs = 60_000, interrupted = "skip" } = this.#options;
    let { record, version } = (await this.#read()) ?? (await this.#begin());
    const run = async (dueMs: number, attempt: number): Promise<void> => {
      version = await this.#run({ dueMs, attempt, lease, version }, signal);
    };
    if (record.state === "begun" && record.claim === this.#unstarted) await run(record.dueMs, record.attempt);
    else if (record.state === "begun" && interrupted === "repeat") await run(record.dueMs, record.attempt + 1);
    let lastMs = record.dueMs;
    while (!signal.aborted) {
      const nowMs = await this.#serverNowMs();
      const { dueMs, nextMs } = dueRuns(this.#times, { lastMs, nowMs }, { missed, lateMs });
      for (const atMs of dueMs) {
        if (signal.aborted) return;
        await run(atMs, 1);
      }
      lastMs = Math.max(lastMs, nowMs);
      if (dueMs.length === 0) await clientPause(this.#zk, Math.min(nextMs - nowMs, CLOCK_MS_MAX), signal);
    }
  }

  /** Claims a run, and does its work. @returns the version of the record */
  async #run(
    { lease, version, ...run }: Omit<CronRun, "token"> & { readonly version: number },
    signal: AbortSignal,
  ): Promise<number> {
    const claim = crypto.randomUUID();
    const record = { ...run, id: this.#id, claim };
    this.#unstarted = claim;
    const begun = await this.#write(lease, version, { ...record, state: "begun" });
    this.#unstarted = undefined;
    // It stays begun: it was interrupted.
    if (signal.aborted) return begun.version;
    let state: CronRecord["state"] = "done";
    try {
      await this.#own.run(() => this.#work({ ...run, lease, token: begun.mzxid }, signal), signal);
    } catch (error) {
      state = "failed";
      if (!isReasonOf(signal, error)) this.#fail(error);
    } finally {
      // A run that is not the last one any more has no record.
      const ended = await this.#write(lease, begun.version, { ...record, state }).catch(() => begun);
      version = ended.version;
    }
    return version;
  }

  /** @throws WorkError where the error ends the schedule */
  #fail(error: unknown): void {
    if (this.#options.onError !== undefined) {
      this.#reports.report(`a run of the schedule on ${this.path} has failed`, error);
      return;
    }
    this.#reports.reportEnd(`${this.#ending}, as errors of the work end it without onError`, error);
    throw new WorkError("the work of a run has failed", { cause: error });
  }

  get #ending(): string {
    return `the schedule on ${this.path} has ended in this process`;
  }

  async #write(
    lease: Lease,
    version: number,
    record: CronRecord,
  ): Promise<{ readonly mzxid: Zxid; readonly version: number }> {
    const [, stat] = await lease.guard().set(this.#lastPath, recordCodec.encode(record), { version }).commit();
    return stat;
  }

  async #read(): Promise<{ readonly record: CronRecord; readonly version: number } | undefined> {
    const node = await this.#zk.getOrNull(this.#lastPath);
    if (node === null) return undefined;
    return { record: decodedValue(recordCodec, { path: this.#lastPath, ...node }), version: node.stat.version };
  }

  /** The schedule is served from now on. */
  async #begin(): Promise<{ readonly record: CronRecord; readonly version: number }> {
    const dueMs = await this.#serverNowMs();
    const record: CronRecord = { dueMs, state: "waiting", attempt: 0, id: this.#id, claim: crypto.randomUUID() };
    await makeNamed(this.#zk, { path: this.#lastPath, data: recordCodec.encode(record), mode: "persistent" });
    return (await this.#read()) ?? (await this.#begin());
  }

  /** The time of the leader of the servers, by a write. */
  async #serverNowMs(): Promise<number> {
    return (await put(this.#zk, joinPath(this.path, "clock"), "")).mtimeMs;
  }

  get #lastPath(): string {
    return joinPath(this.path, "last");
  }
}

/**
 * Distinguishes errors of the work from those of requests, which may be errors of the same client.
 */
class WorkError extends Error {}

function timesOf(schedule: CronSchedule): Times {
  if (typeof schedule === "string") return cronTimes(schedule);
  if (typeof schedule === "function") return schedule;
  checkRecord("the schedule of a Cron", schedule, EVERY, ["everyMs"]);
  const { everyMs } = schedule;
  return (afterMs) => (Math.floor(afterMs / everyMs) + 1) * everyMs;
}
