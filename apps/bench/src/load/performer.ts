import type { ChurnJob, ChurnOutcome } from "./churn-load.ts";
import type { FanoutJob, FanoutOutcome } from "./fanout-load.ts";
import type { RecipeJob, RecipeOutcome } from "./recipe-load.ts";
import type { RequestJob, RequestOutcome } from "./request-load.ts";
import type { SessionJob, SessionOutcome } from "./session-load.ts";

/** What a thread can be told to do. */
export type Job = RequestJob | ChurnJob | FanoutJob | SessionJob | RecipeJob;

export interface Outcomes {
  readonly requests: RequestOutcome;
  readonly churn: ChurnOutcome;
  readonly fanout: FanoutOutcome;
  readonly sessions: SessionOutcome;
  readonly recipe: RecipeOutcome;
}

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
