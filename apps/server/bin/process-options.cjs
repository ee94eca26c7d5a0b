"use strict";
const { availableParallelism } = require("node:os");

/**
 * What the process is started with. None of it can be set from inside: the flags are read before any
 * code runs, and the C library reads the variable with its first allocation.
 */
const FLAGS = [
  /** Garbage is short-lived: a larger young generation costs memory and saves no work. */
  "--max-semi-space-size=4",
  /**
   * V8 compiles and collects garbage in threads of its own, four by default. On two cores they take half of the
   * CPU while a server warms up, and clients wait.
   */
  `--v8-pool-size=${Math.min(4, Math.max(1, availableParallelism() - 1))}`,
];

module.exports = {
  /** The flags that the user has not set, neither on the command line nor in NODE_OPTIONS. */
  missingFlags() {
    const chosen = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? "").split(/\s+/)].map(nameOf);
    return FLAGS.filter((flag) => !chosen.includes(nameOf(flag)));
  },
  /** Memory that threads gave back stays in their arenas: few arenas keep the process small. */
  environment: { MALLOC_ARENA_MAX: "2" },
};

/** V8 takes underscores too. */
function nameOf(flag) {
  return flag.replace(/=.*/, "").replaceAll("_", "-");
}
