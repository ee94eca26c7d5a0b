/** Exit statuses. zkCli has three of these; the finer ones are for `--json`. */
export const ExitStatus = {
  OK: 0,
  /**
   * zkCli: any failure. With `--json`: no such node or watch, or another refusal without a status
   * of its own.
   */
  FAILED: 1,
  USAGE: 2,
  CONNECTION: 3,
  AUTH: 4,
  CONFLICT: 5,
  /** As `timeout`: the wait exceeded its limit. */
  TIMED_OUT: 124,
  /** The lock was lost while the program ran. */
  LOST: 125,
  /** As a shell: the program cannot be run, or does not exist. */
  PROGRAM_UNUSABLE: 126,
  PROGRAM_MISSING: 127,
  /** Ctrl-C, as in shells. */
  INTERRUPTED: 130,
  /** zkCli: an unknown command, as in a shell. */
  COMMAND_UNKNOWN: 127,
} as const;
export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus];
