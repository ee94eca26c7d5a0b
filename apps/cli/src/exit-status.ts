/** How the process ends. zkCli knows three of these; the finer ones are for `--json`. */
export const ExitStatus = {
  OK: 0,
  /** zkCli: whatever failed. With `--json`: there is no such node or watch, or another refusal without a status of its own. */
  FAILED: 1,
  USAGE: 2,
  CONNECTION: 3,
  AUTH: 4,
  CONFLICT: 5,
  /** As `timeout` says it: what was waited for did not come in time. */
  TIMED_OUT: 124,
  /** The lock was lost while the program ran. */
  LOST: 125,
  /** As a shell says it: the program cannot be run; there is none of that name. */
  PROGRAM_UNUSABLE: 126,
  PROGRAM_MISSING: 127,
  /** Ctrl-C, as shells count it. */
  INTERRUPTED: 130,
  /** zkCli: no command of that name, as a shell says it. */
  COMMAND_UNKNOWN: 127,
} as const;
export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus];
