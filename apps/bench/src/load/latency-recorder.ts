/**
 * Counts latencies in the buckets of an HDR histogram with three significant digits, microseconds
 * from 1 to 60 s.
 *
 * The library's own record costs 70 ns, a tenth of the budget of a whole request; this costs 3. The
 * layout is the same (2048 exact values, then 1024 buckets for each doubling), so that
 * latency-summary.ts converts the counts to the library's histogram without loss, once for each
 * result.
 *
 *     value 0 … 2047          index = value
 *     value 2^(10+b) …        index = 1024 b + (value >> b)
 */
export const LATENCY_US_MAX = 60_000_000;
export const BUCKET_COUNT: number = 17 * 1024;

export class LatencyRecorder {
  readonly counts: Int32Array<ArrayBuffer> = new Int32Array(BUCKET_COUNT);

  /** Records one latency. Below a microsecond counts as one, above a minute as a minute. */
  record(ms: number): void {
    const us = ms >= LATENCY_US_MAX / 1000 ? LATENCY_US_MAX : ms < 0.001 ? 1 : (ms * 1000 + 0.5) | 0;
    const index = bucketOf(us);
    this.counts[index] = (this.counts[index] as number) + 1;
  }
}

export function bucketOf(us: number): number {
  const bucket = 21 - Math.clz32(us | 2047);
  return (bucket << 10) + (us >>> bucket);
}

/** The lowest value of a bucket. */
export function bucketValue(index: number): number {
  if (index < 2048) return index;
  const bucket = (index >>> 10) - 1;
  return ((index & 1023) + 1024) << bucket;
}
