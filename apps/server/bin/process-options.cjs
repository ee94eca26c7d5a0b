"use strict";
/**
 * What the process is started with. Neither can be set from inside: V8 reads the size when it makes
 * its heap, and the C library reads the variable with its first allocation.
 */
module.exports = {
  /** Garbage is short-lived: a larger young generation costs memory and saves no work. */
  flags: ["--max-semi-space-size=4"],
  /** Memory that threads gave back stays in their arenas: few arenas keep the process small. */
  environment: { MALLOC_ARENA_MAX: "2" },
};
