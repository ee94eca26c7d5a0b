/**
 * The quantile of the nearest rank: the least value that at least `share` of all are not above; of
 * no values 0.
 *
 * @param sorted in rising order
 * @param share from 0 to 1
 */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
