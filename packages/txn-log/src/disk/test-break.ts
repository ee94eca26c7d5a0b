/**
 * For tests only: lets the disk fail as a real one may.
 *
 * - `sync-fails`: the log's first commit after open reports EIO, once it is written
 * - `state-full`: state files cannot grow by more than a little
 * - `log-full`: the log's commits find no room while a file {@link FULL_FILE} is in its directory
 * - `full-by-files`: the same, and commits of state files find none while
 *   {@link CHECKPOINTS_FULL_FILE} is beside them
 */
export type TestBreak = "sync-fails" | "state-full" | "log-full" | "full-by-files";

/**
 * A file of this name in the log's directory takes the room for its commits away; see
 * {@link TestBreak}.
 */
export const FULL_FILE = "full";
/**
 * A file of this name beside the state file takes the room for its commits away; see
 * {@link TestBreak}.
 */
export const CHECKPOINTS_FULL_FILE = "full-for-checkpoints";
