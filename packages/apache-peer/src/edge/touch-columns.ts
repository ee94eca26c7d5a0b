import type { SessionTouch } from "../core/quorum-packet.ts";

/**
 * Touches as a message between threads. A copy of as many objects takes fifty times as long, and
 * the thread that takes it answers no pings meanwhile.
 */
export interface TouchColumns {
  readonly ids: BigInt64Array<ArrayBuffer>;
  readonly timeoutsMs: Int32Array<ArrayBuffer>;
}

export function touchColumns(touches: readonly SessionTouch[]): TouchColumns {
  const ids = new BigInt64Array(touches.length);
  const timeoutsMs = new Int32Array(touches.length);
  for (const [i, { id, timeoutMs }] of touches.entries()) {
    ids[i] = id;
    timeoutsMs[i] = timeoutMs;
  }
  return { ids, timeoutsMs };
}

export function* touchesOf({ ids, timeoutsMs }: TouchColumns): Generator<SessionTouch> {
  for (const [i, id] of ids.entries()) yield { id, timeoutMs: timeoutsMs[i] ?? 0 };
}
