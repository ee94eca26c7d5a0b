/** Something that takes bytes from strangers. */
export interface FuzzTarget {
  readonly name: string;
  /** Good inputs, of which bad ones are made. */
  readonly seeds: readonly Buffer[];
  /** Words that mean something to it, put in between now and then. */
  readonly words?: readonly string[];
  /** Takes one input. Whatever it throws that it does not say it throws is a finding. */
  run(input: Buffer): void | Promise<void>;
}
