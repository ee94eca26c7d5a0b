import type { LoopReport } from "./measured-server.ts";
import type { Shape } from "./shape.ts";

/** What one request cost when it was sent once. */
export interface Try extends LoopReport {
  readonly shape: Shape;
  readonly frameBytes: number;
}

/** What a request costs, by several tries. */
export interface Cost {
  readonly shape: Shape;
  readonly frameBytes: number;
  /** How long it holds the event loop. */
  readonly heldMs: number;
  /** In every try other processes took the processor in a long iteration of the loop: the time is that of the median try without such ones. */
  readonly isEstimate: boolean;
  readonly memoryBytes: number;
  readonly txnBytes: number;
}

/** @param tries of one shape, one at least */
export function costOf(tries: readonly [Try, ...Try[]]): Cost {
  const [{ shape, frameBytes }] = tries;
  const isUndisturbed = ({ heldMs, disturbedMs }: Try): boolean => disturbedMs <= heldMs;
  const undisturbed = tries.filter(isUndisturbed);
  const held = tries.map(({ heldMs }) => heldMs).toSorted((a, b) => a - b);
  return {
    ...{ shape, frameBytes },
    heldMs: undisturbed.length > 0 ? least(undisturbed, ({ heldMs }) => heldMs) : (held[held.length >> 1] ?? 0),
    isEstimate: undisturbed.length === 0,
    memoryBytes: least(tries, ({ memoryBytes }) => memoryBytes),
    txnBytes: least(tries, ({ txnBytes }) => txnBytes),
  };
}

function least(tries: readonly Try[], amount: (one: Try) => number): number {
  return Math.min(...tries.map(amount));
}
