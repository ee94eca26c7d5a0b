import type { LoggedRun } from "@zooid/model";

/** Is called with each append, before the entries are durable. */
export interface AppendObserver {
  /** The bytes are lent for the call. */
  appended(run: LoggedRun): void;
  /** The log may lose entries that were appended, or get others than those. */
  replaced(): void;
}
