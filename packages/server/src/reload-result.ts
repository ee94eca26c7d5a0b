/** The outcome of a reload that an operator asked for by the admin port. */
export interface ReloadAnswer {
  /** Why nothing changes, a sentence each; empty where it does. */
  readonly problems: readonly string[];
  /** The settings that are in force now, or would be after a dry run, a clause each. */
  readonly changed: readonly string[];
  /** Settings that wait for the next start, or have no effect, a clause each. */
  readonly notApplied: readonly string[];
  /** New warnings that a start would log, such as a misspelt key; a sentence each. */
  readonly warnings: readonly string[];
}

export interface ReloadMode {
  /** Everything is checked and reported, and nothing changes. Default false. */
  readonly isDryRun?: boolean;
}

export interface ReloadResult {
  /** The changes of the links between servers, a clause each. */
  readonly changes: readonly string[];
  /**
   * This server's certificates, by the side that sees them; ends of validity in seconds since 1970.
   */
  readonly certificates: readonly {
    readonly shownTo: "clients" | "peers" | "operators";
    readonly notAfter: number | undefined;
    readonly notAfterBefore: number | undefined;
  }[];
  /** Warnings for the operator about the options, one sentence each, as a start has them. */
  readonly notices: readonly string[];
  /** Why nothing was applied, a sentence each; empty if it was. */
  readonly problems: readonly string[];
}
