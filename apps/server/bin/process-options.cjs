"use strict";
const { availableParallelism } = require("node:os");

/**
 * What the process is started with. None can be set from inside: V8 reads the sizes when it makes
 * its heap and its threads, and the C library reads the variable with its first allocation.
 */
module.exports = {
  flags: [
    /** Garbage is short-lived: a larger young generation costs memory and saves no work. */
    "--max-semi-space-size=8",
    /** The collector's threads take no more than the cores beside the one that serves clients. */
    `--v8-pool-size=${Math.max(1, Math.min(4, availableParallelism() - 1))}`,
  ],
  /** Memory that threads gave back stays in their arenas: few arenas keep the process small. */
  environment: { MALLOC_ARENA_MAX: "2" },
};
