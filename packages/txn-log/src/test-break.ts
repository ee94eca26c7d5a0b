/** For the fault harness only: prove that tests notice when a promise is broken. */
export type TestBreak = "synchronous-normal" | "reply-before-sync";
