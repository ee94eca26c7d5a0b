import { DEFAULT_LIMITS, type Limits } from "../cluster/limits.ts";
import type { Prng } from "../cluster/prng.ts";

/** A few watches of short paths. */
const WATCH_BYTES_LEAST = 600;

/** Each limit is small in about half of the plans. */
export function drawLimits(random: Prng): Limits {
  const small = (least: number, range: number, usual: number): number => {
    const isSmall = random.chance(0.5);
    const value = least + random.below(range);
    return isSmall ? value : usual;
  };
  return {
    closeOpCountMax: small(1, 3, DEFAULT_LIMITS.closeOpCountMax),
    closePathBytesMax: small(1, 30, DEFAULT_LIMITS.closePathBytesMax),
    endOpCountPerTurn: small(1, 3, DEFAULT_LIMITS.endOpCountPerTurn),
    forwardOpCountPerTurn: small(1, 4, DEFAULT_LIMITS.forwardOpCountPerTurn),
    applyWorkPerTurn: small(1, 8, DEFAULT_LIMITS.applyWorkPerTurn),
    prepareWorkPerTurn: small(1, 30, DEFAULT_LIMITS.prepareWorkPerTurn),
    multiOpCountMax: small(1, 5, DEFAULT_LIMITS.multiOpCountMax),
    multiPathNamesMax: small(1, 8, DEFAULT_LIMITS.multiPathNamesMax),
    txnBytesMax: small(80, 300, DEFAULT_LIMITS.txnBytesMax),
    watchBytesMax: small(WATCH_BYTES_LEAST, 1500, DEFAULT_LIMITS.watchBytesMax),
    waitingAnswerBytesMax: small(1, 3000, DEFAULT_LIMITS.waitingAnswerBytesMax),
    inFlightCountMax: small(1, 6, DEFAULT_LIMITS.inFlightCountMax),
    setWatchesWorkPerTurn: small(1, 30, DEFAULT_LIMITS.setWatchesWorkPerTurn),
    releaseWorkPerTurn: small(1, 4, DEFAULT_LIMITS.releaseWorkPerTurn),
    heldBytesMax: DEFAULT_LIMITS.heldBytesMax,
    writeWorkUsMax: small(3, 60, DEFAULT_LIMITS.writeWorkUsMax),
  };
}
