/** An ensemble in the page's switch. */
export interface EnsembleLink {
  readonly name: string;
  /** The prefix of its page and API; empty for the first one. */
  readonly prefix: string;
}
