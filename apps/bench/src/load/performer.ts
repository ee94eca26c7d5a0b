import type { ErrorCounts } from "./error-counts.ts";

/** Does a job, or its share of it, in a thread. */
export interface Performer<Outcome> {
  /** Completed operations so far, for progress. */
  readonly total: number;
  readonly errors: ErrorCounts;
  /** Connects, before the measurement starts. */
  open(): Promise<void>;
  /**
   * @param startMs the start, on this thread's clock
   * @param signal ends it early, with the results so far
   * @param enter reports the part of the job that starts
   */
  run(startMs: number, signal: AbortSignal, enter: (part: string) => void): Promise<Outcome>;
}
