import type { SessionDriver } from "../session/session-driver.ts";
import type { View } from "../view.ts";

/** Where the calls of one view of a client go. */
export interface ViewPlace {
  readonly driver: SessionDriver;
  /** The path under which all paths lie; `/` for none. */
  readonly root: string;
  readonly view: View;
}
