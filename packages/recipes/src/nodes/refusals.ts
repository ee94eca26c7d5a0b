import { type Client, isZkError, type NodeData, pause, type Watched, type ZkErrorCode } from "@zooid/client";

const AGAIN_MS = 100;

/** The answer of a request; null if the servers refuse it with one of the codes. */
export async function orNull<T>(request: Promise<T>, ...codes: readonly ZkErrorCode[]): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (codes.some((code) => isZkError(error, code))) return null;
    throw error;
  }
}

/** Whether a write is made; false if the servers refuse it with one of the codes. */
export async function isMade(write: Promise<unknown>, ...codes: readonly ZkErrorCode[]): Promise<boolean> {
  const made = write.then(() => true);
  return (await orNull(made, ...codes)) !== null;
}

/**
 * A node with a watch; null if there is none. A failed read arms no watch; `exists` would, until
 * the node is created.
 */
export function watchedNode(zk: Client, path: string, signal: AbortSignal): Promise<(NodeData & Watched) | null> {
  return orNull(zk.get(path, { watch: true, signal }), "NO_NODE");
}

/** Repeats a step, with pauses, while it fails with errors after which the same may succeed. */
export async function untilAnswered<T>(step: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!isZkError(error) || !error.retriable) throw error;
    }
    await pause(AGAIN_MS, { ref: false });
  }
}
