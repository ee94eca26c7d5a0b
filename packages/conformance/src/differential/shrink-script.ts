import type { Script, Step } from "./script.ts";

/**
 * The shortest script found that still differs: runs of steps are removed as long as possible, then
 * requests of steps.
 *
 * @param differs whether a script still shows the difference
 * @param triesMax maximum number of attempts
 */
export async function shrinkScript(
  script: Script,
  differs: (script: Script) => Promise<boolean>,
  triesMax: number,
): Promise<Script> {
  let tries = 0;
  const holds = async (steps: readonly Step[]): Promise<boolean> => {
    if (tries >= triesMax) return false;
    tries++;
    return await differs({ ...script, steps });
  };
  const steps = await shorten(script.steps, holds);
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i];
    if (step?.kind !== "requests" || step.requests.length < 2) continue;
    const requests = await shorten(step.requests, (kept) => holds(steps.with(i, { ...step, requests: kept })));
    steps[i] = { ...step, requests };
  }
  return { ...script, steps };
}

/** Leaves out runs, longest first: half of them, a quarter, and so on down to each one. */
async function shorten<T>(items: readonly T[], holds: (kept: readonly T[]) => Promise<boolean>): Promise<T[]> {
  let kept = [...items];
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    // From the end: steps after the difference are removed first, and those that prepare it are
    // tried last.
    for (let end = kept.length; end > 0; end -= size) {
      const fewer = [...kept.slice(0, Math.max(0, end - size)), ...kept.slice(end)];
      if (fewer.length > 0 && (await holds(fewer))) kept = fewer;
    }
  }
  return kept;
}
