/** Does a job, or its share of it, in a thread. */
export interface Performer<Outcome> {
  /** What was done so far, for progress. */
  readonly total: number;
  readonly errorCount: number;
  /** Connects, before the clock runs. */
  open(): Promise<void>;
  /**
   * @param startMs when to begin, on this thread's clock
   * @param signal ends it early, with what there is
   * @param enter says which part of the job begins
   */
  run(startMs: number, signal: AbortSignal, enter: (part: string) => void): Promise<Outcome>;
}
