/** The facts of files that are wanted. */
export interface InspectOptions {
  /** A line for each change. */
  readonly hasEntries: boolean;
  /** Whether everything is read against its sums. */
  readonly isVerified: boolean;
  /** Values and access lists are shown too: they may be secrets. */
  readonly hasData: boolean;
}
