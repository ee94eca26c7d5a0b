import type { CommitProcessor } from "../delivery/commit-processor.ts";
import type { SlowRequests } from "../slow-requests.ts";
import type { RequestParts } from "./requests.ts";

export interface DeliveryParts extends RequestParts {
  readonly commitProcessor: CommitProcessor;
  readonly slowRequests: SlowRequests;
}
