import { quantile } from "@zooid/model/testing/quantile";

export interface Quantiles {
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

/** Quantiles by the nearest rank; 0 of no values. */
export function quantiles(values: Iterable<number>): Quantiles {
  const sorted = Float64Array.from(values).sort();
  return { median: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: quantile(sorted, 1) };
}

export function median(values: Iterable<number>): number {
  return quantiles(values).median;
}

export function inMs({ median, p99, max }: Quantiles): string {
  return `median ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, max ${max.toFixed(0)} ms`;
}
