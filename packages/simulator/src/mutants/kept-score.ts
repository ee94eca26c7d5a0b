/** The share of mutations that are noticed, in percent. */
export function scoreOf(noticed: number, count: number): number {
  return count === 0 ? 100 : Math.round((1000 * noticed) / count) / 10;
}
