/**
 * For tests of this package only: lets the disk fail as a real one may.
 *
 * `sync-fails`: the log's first commit after open reports EIO, once it is written. `state-full`: state files cannot grow by more
 * than a little. `log-full`: the log's commits find no room while `full` lies in its directory.
 */
export type TestBreak = "sync-fails" | "state-full" | "log-full";

export const FULL_FILE = "full";
