/** The middle of some figures and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly all: readonly number[];
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: quantile(sorted, 0.5), min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN, all: values };
}

/** The distance between the quarter and the three quarters of some figures. */
export function interquartileRange(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return quantile(sorted, 0.75) - quantile(sorted, 0.25);
}

/** By linear interpolation between the two nearest. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) return Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
