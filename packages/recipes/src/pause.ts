import timers from "node:timers/promises";

/**
 * Resolves after so many milliseconds. Looked up at each call: in jest, a named import of Node's is
 * a copy, which virtual time cannot replace.
 */
export function pause(
  delayMs: number,
  value?: undefined,
  options?: { readonly signal?: AbortSignal; readonly ref?: boolean },
): Promise<void> {
  return timers.setTimeout(delayMs, value, options);
}
