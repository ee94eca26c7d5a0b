import type { ChurnJob, ChurnOutcome } from "./churn-load.ts";
import type { FanoutJob, FanoutOutcome } from "./fanout-load.ts";
import type { RecipeJob, RecipeOutcome } from "./recipe-load.ts";
import type { RequestJob, RequestOutcome } from "./request-load.ts";
import type { SessionJob, SessionOutcome } from "./session-load.ts";

/** The work of a thread. */
export type Job = RequestJob | ChurnJob | FanoutJob | SessionJob | RecipeJob;

/** The result of each kind of job. */
export interface Outcomes {
  readonly requests: RequestOutcome;
  readonly churn: ChurnOutcome;
  readonly fanout: FanoutOutcome;
  readonly sessions: SessionOutcome;
  readonly recipe: RecipeOutcome;
}
