import type { BackgroundDeletes } from "./operations/background-deletes.ts";
import type { ClientConfig } from "./options.ts";
import type { ServerList } from "./servers/server-list.ts";
import type { DriverMetrics } from "./session/driver-metrics.ts";
import type { SessionDriver } from "./session/session-driver.ts";
import type { Observations } from "./streams/observe.ts";
import { View } from "./view.ts";

/** Parts that all views of one session share. */
export interface SharedParts {
  readonly driver: SessionDriver;
  readonly observations: Observations;
  readonly deletes: BackgroundDeletes;
  /** Undefined where hosts come from the option `hosts`. */
  readonly servers?: ServerList | undefined;
}

/** Metrics of a client, over all views of its session. */
export interface ClientMetrics extends DriverMetrics {
  /** As `watchCount` of the client. */
  readonly watchCount: number;
  /** As `pendingDeleteCount` of the client. */
  readonly pendingDeleteCount: number;
}

/** The client's own view; `signal` only limited connecting. */
export function viewOf({ acl, defaultData, intercept, onSuspended, retry }: ClientConfig): View {
  return new View({ acl, defaultData, intercept, onSuspended, retry }, true);
}
