/**
 * The promises of a recorded process, and their times: the oracle for each disk that a power cut
 * could leave. A track is something that steps change one after the other: the store, or the
 * configuration's files. Each step has a view, which is all that a start shows of the track after
 * it.
 */

export interface Step {
  readonly track: string;
  readonly view: string;
  /** On the clock of the record. */
  readonly askedAt: bigint;
  /** From here on it lasts; undefined: that was never said. */
  readonly promisedAt: bigint | undefined;
}

/** Sums of what lies behind each zxid: the tree there, and the entry's record. */
export interface Sums {
  readonly states: ReadonlyMap<number, string>;
  readonly records: ReadonlyMap<number, string>;
}

export interface Promises extends Sums {
  /** When the part of the record began whose cuts are looked at. */
  readonly from: bigint;
  readonly steps: readonly Step[];
}

export function encodePromises({ from, steps, states, records }: Promises): string {
  return JSON.stringify({ from, steps, states: [...states], records: [...records] }, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}

export function decodePromises(text: string): Promises {
  const { from, steps, states, records } = JSON.parse(text) as {
    readonly from: string;
    readonly steps: readonly (Pick<Step, "track" | "view"> & {
      readonly askedAt: string;
      readonly promisedAt?: string;
    })[];
    readonly states: readonly (readonly [number, string])[];
    readonly records: readonly (readonly [number, string])[];
  };
  return {
    from: BigInt(from),
    steps: steps.map(({ track, view, askedAt, promisedAt }) => ({
      track,
      view,
      askedAt: BigInt(askedAt),
      promisedAt: promisedAt === undefined ? undefined : BigInt(promisedAt),
    })),
    states: new Map(states),
    records: new Map(records),
  };
}

/**
 * The fault in a start's view of a track after a cut; undefined: none.
 *
 * @param until see `CutState`
 */
export function brokenPromise(
  { steps }: Pick<Promises, "steps">,
  { track, view, until }: { readonly track: string; readonly view: string; readonly until: bigint | undefined },
): string | undefined {
  const own = steps.filter((step) => step.track === track);
  const isBefore = (at: bigint | undefined): boolean => at !== undefined && (until === undefined || at < until);
  const first = own.findLastIndex(({ promisedAt }) => isBefore(promisedAt));
  const last = own.findLastIndex(({ askedAt }) => isBefore(askedAt));
  // Before the first promise there may be nothing, as a first start shows it.
  const allowed = own.slice(Math.max(0, first), Math.max(0, last) + 1).map((step) => step.view);
  if (allowed.includes(view)) return undefined;
  return `${track}: step ${first + 1} was promised and step ${last + 1} asked for; found ${view}, which is none of ${allowed.join(" | ")}`;
}
