import type { LoopReport } from "./measured-server.ts";
import type { Shape } from "./shape.ts";

/** The cost of a request. */
export interface Cost extends LoopReport {
  readonly shape: Shape;
  readonly frameBytes: number;
}

/**
 * The least of what one request took in several tries: anything else that the server does, or the
 * machine, only adds to it.
 */
export function leastOf(one: Cost, other: Cost): Cost {
  const { shape, frameBytes } = one;
  return {
    shape,
    frameBytes,
    heldMs: Math.min(one.heldMs, other.heldMs),
    memoryBytes: Math.min(one.memoryBytes, other.memoryBytes),
    txnBytes: Math.min(one.txnBytes, other.txnBytes),
  };
}
