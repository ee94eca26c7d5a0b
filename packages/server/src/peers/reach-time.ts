const REACH_MS_LEAST = 500;
const ATTEMPTS_PER_DOUBLING = 4;
const DOUBLINGS_MAX = 20;

/**
 * Time for an address to answer an attempt to connect. A host that is gone never answers, for
 * example one that has started again at another address. Attempts at its old address are therefore
 * short, and each attempt looks up the name again. After several silent attempts the time doubles,
 * for a network that is slow; `cnxTimeout` bounds it.
 *
 * @param silentCount consecutive attempts that ended without any answer
 */
export function reachMs(silentCount: number): number {
  return REACH_MS_LEAST * 2 ** Math.min(Math.floor(silentCount / ATTEMPTS_PER_DOUBLING), DOUBLINGS_MAX);
}
