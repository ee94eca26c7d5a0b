/** How far a long piece of work is, and how long the rest takes at the speed so far. */
export interface Progress {
  readonly doneCount: number;
  /** Undefined: not known. */
  readonly total: number | undefined;
  readonly elapsedMs: number;
}

const SURE_AFTER_MS = 5_000;
const SURE_AFTER_SHARE = 0.05;

/** Undefined where the total is not known. */
export function shareOf({ doneCount, total }: Progress): number | undefined {
  return total === undefined || total === 0 ? undefined : Math.min(1, doneCount / total);
}

/** Undefined until the speed says something. */
export function restMs(progress: Progress): number | undefined {
  const share = shareOf(progress);
  if (share === undefined || share === 0) return undefined;
  if (progress.elapsedMs < SURE_AFTER_MS && share < SURE_AFTER_SHARE) return undefined;
  return (progress.elapsedMs / share) * (1 - share);
}
