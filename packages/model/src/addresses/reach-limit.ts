const REACH_MS_LEAST = 500;
const DOUBLINGS_MAX = 20;

/** Consecutive silent attempts after which {@link reachLimitMs} doubles. */
export const SILENT_ATTEMPTS_PER_DOUBLING = 4;

/**
 * Maximum time in milliseconds until an address accepts or refuses a connection. The caller bounds
 * it by its own limit for a whole attempt.
 *
 * A host that is gone does neither, as a pod that was replaced, and would take the whole time of an
 * attempt while other addresses, or the host's new one, could be tried. But a round trip may also
 * take longer than half a second. So attempts begin short, each looks up the name again, and the
 * limit doubles after several that ended without any answer.
 *
 * @param silentCount attempts without any answer since the last answer
 */
export function reachLimitMs(silentCount: number): number {
  const doublings = Math.floor(silentCount / SILENT_ATTEMPTS_PER_DOUBLING);
  return REACH_MS_LEAST * 2 ** Math.min(doublings, DOUBLINGS_MAX);
}
