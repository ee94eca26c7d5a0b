/**
 * For tests and the fault harness only: breaks a promise to prove that tests notice, or lets the disk fail as a real one may.
 *
 * `sync-fails`: the log's first commit after open reports EIO, once it is written. `state-full`: state files cannot grow by more
 * than a little.
 */
export type TestBreak = "synchronous-normal" | "reply-before-sync" | "sync-fails" | "state-full";
