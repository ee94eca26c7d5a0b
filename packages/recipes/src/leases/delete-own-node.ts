import { type Client, type Created, isZkError, pause, type Zxid } from "@zooid/client";
import { LossAlarm } from "./waiting.ts";

const AGAIN_MS = 100;

/**
 * Deletes a node with a UUID in its name, over lost connections and sessions: a session assumed
 * lost may come back, and its nodes with it. Resolves when the node is deleted, or when the session
 * may be over, which deletes it.
 */
export async function deleteOwnNode(zk: Client, path: string): Promise<void> {
  const deleting = zk.delete(path, { guaranteed: true, missingOk: true }).catch((error: unknown) => {
    // The client's end is the end of its session, or leads to it.
    if (!isZkError(error, "CLIENT_CLOSED") && !isZkError(error, "SESSION_EXPIRED")) throw error;
  });
  using loss = new LossAlarm(zk);
  await Promise.race([deleting, loss.rung]);
}

/**
 * The same without a caller that waits: a node that cannot be deleted is removed with its session.
 */
export function deleteOwnNodeLater(zk: Client, path: string): void {
  deleteOwnNode(zk, path).catch(() => {});
}

/**
 * The same for an ephemeral node whose name other clients may reuse: deletes only the same node of
 * the same session.
 */
export async function deleteOwnNamedNode(zk: Client, { path, stat: { czxid } }: Created): Promise<void> {
  using loss = new LossAlarm(zk);
  await Promise.race([deleteIfSame(zk, path, czxid), loss.rung]);
}

async function deleteIfSame(zk: Client, path: string, czxid: Zxid): Promise<void> {
  for (;;) {
    try {
      const stat = await zk.exists(path);
      // Another session's node is removed with it, or belongs to another client.
      if (stat?.czxid !== czxid || stat.ephemeralOwner !== zk.sessionId) return;
      await zk.delete(path, { guaranteed: "session", missingOk: true });
    } catch (error) {
      if (isZkError(error, "CLIENT_CLOSED") || isZkError(error, "SESSION_EXPIRED")) return;
      if (!isZkError(error) || !error.retriable) throw error;
      await pause(AGAIN_MS, { ref: false });
    }
  }
}
