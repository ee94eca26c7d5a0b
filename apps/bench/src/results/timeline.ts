/** Something that is done to the servers while they are under load. */
export interface PlannedEvent {
  /** From the beginning of the measured time. */
  readonly atMs: number;
  /** Its name in the chart. */
  readonly label: string;
  /** For /bin/sh. */
  readonly command: string;
}

/** When it really began, and what came of it. */
export interface TimelineEvent {
  readonly atMs: number;
  readonly label: string;
  /** Undefined when it ended well. */
  readonly failure: string | undefined;
}

/** Answers in each slice of the measured time. */
export interface Timeline {
  readonly sliceMs: number;
  /** Answers by kind of request; one number for each slice. */
  readonly answered: Readonly<Record<string, readonly number[]>>;
  /** Requests that were refused or lost. */
  readonly errors: readonly number[];
  /** The longest latency of an answer in the slice. */
  readonly worstMs: readonly number[];
  readonly events: readonly TimelineEvent[];
}

/** The effect of one event on the load, until the next one. */
export interface EventEffect {
  readonly label: string;
  /** Slices in a row, the longest run of them, without an answer of the kind asked about. */
  readonly stillMs: number;
  /**
   * From the event until the level of before was reached again; undefined when that did not happen
   * before the next event.
   */
  readonly backMs: number | undefined;
}

/** Time whose median is the level of before. */
const BEFORE_MS = 3000;
/** The level is reached again when the mean of this time comes to this share of it. */
const BACK_MS = 500;
const BACK_SHARE = 0.8;

/** Counts a thread's answers by slice. Slices begin at a time on that thread's clock. */
export class SliceCounter {
  readonly answered: readonly Int32Array[];
  readonly errors: Int32Array;
  readonly worstMs: Float64Array;
  readonly #fromMs: number;
  readonly #sliceMs: number;

  constructor(options: {
    readonly kinds: number;
    readonly fromMs: number;
    readonly durationMs: number;
    readonly sliceMs: number;
  }) {
    const { kinds, fromMs, durationMs, sliceMs } = options;
    const slices = Math.ceil(durationMs / sliceMs);
    this.#fromMs = fromMs;
    this.#sliceMs = sliceMs;
    this.answered = Array.from({ length: kinds }, () => new Int32Array(slices));
    this.errors = new Int32Array(slices);
    this.worstMs = new Float64Array(slices);
  }

  answer(kind: number, nowMs: number, latencyMs: number): void {
    const slice = Math.floor((nowMs - this.#fromMs) / this.#sliceMs);
    const counts = this.answered[kind];
    if (counts === undefined || slice < 0 || slice >= counts.length) return;
    counts[slice] = (counts[slice] as number) + 1;
    if (latencyMs > (this.worstMs[slice] as number)) this.worstMs[slice] = latencyMs;
  }

  error(nowMs: number): void {
    const slice = Math.floor((nowMs - this.#fromMs) / this.#sliceMs);
    if (slice >= 0 && slice < this.errors.length) this.errors[slice] = (this.errors[slice] as number) + 1;
  }
}

/**
 * The threads' slices as one timeline.
 *
 * @param kinds the name of each kind that was counted, in order
 */
export function timelineOf(
  counters: readonly Pick<SliceCounter, "answered" | "errors" | "worstMs">[],
  { kinds, sliceMs, events }: { kinds: readonly string[]; sliceMs: number; events: readonly TimelineEvent[] },
): Timeline {
  const slices = counters[0]?.errors.length ?? 0;
  const sums = (of: (counter: (typeof counters)[number]) => ArrayLike<number> | undefined): readonly number[] =>
    Array.from({ length: slices }, (_, i) => counters.reduce((sum, counter) => sum + (of(counter)?.[i] ?? 0), 0));
  return {
    sliceMs,
    answered: Object.fromEntries(kinds.map((name, kind) => [name, sums(({ answered }) => answered[kind])])),
    errors: sums(({ errors }) => errors),
    worstMs: Array.from({ length: slices }, (_, i) => Math.max(...counters.map(({ worstMs }) => worstMs[i] ?? 0))),
    events,
  };
}

/** The effect of each event on requests of one kind. */
export function effectsOf({ sliceMs, answered, events }: Timeline, kind: string): readonly EventEffect[] {
  const counts = answered[kind] ?? [];
  return events.map(({ atMs, label }, i) => {
    const from = Math.floor(atMs / sliceMs);
    const to = Math.min(counts.length, Math.floor((events[i + 1]?.atMs ?? Number.POSITIVE_INFINITY) / sliceMs));
    const before = median(counts.slice(Math.max(0, from - Math.round(BEFORE_MS / sliceMs)), from));
    let still = 0;
    let run = 0;
    for (let slice = from; slice < to; slice++) {
      run = counts[slice] === 0 ? run + 1 : 0;
      still = Math.max(still, run);
    }
    const window = Math.max(1, Math.round(BACK_MS / sliceMs));
    // The event took hold somewhere in its slice: the level counts as reached again only after it
    // was left.
    const left = counts.findIndex((count, slice) => slice >= from && slice < to && count < BACK_SHARE * before);
    if (left === -1) return { label, stillMs: still * sliceMs, backMs: 0 };
    for (let slice = left; slice + window <= to; slice++) {
      if ((counts[slice] as number) < BACK_SHARE * before) continue;
      if (mean(counts.slice(slice, slice + window)) < BACK_SHARE * before) continue;
      return { label, stillMs: still * sliceMs, backMs: Math.max(0, slice * sliceMs - atMs) };
    }
    return { label, stillMs: still * sliceMs, backMs: undefined };
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
