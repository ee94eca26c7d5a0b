import { type Client, type Created, isZkError, type Zxid } from "@zooid/client";
import { pause } from "../pause.ts";
import { LossAlarm } from "./waiting.ts";

const AGAIN_MS = 100;

/**
 * Deletes a node that carries a UUID in its name, whatever becomes of connections and sessions: one that was taken for lost may come back, and
 * its nodes with it. Resolves when the node is gone, or when the session may be over, with which it goes.
 */
export async function deleteOwnNode(zk: Client, path: string): Promise<void> {
  const deleting = zk.delete(path, { guaranteed: true, missingOk: true }).catch((error: unknown) => {
    // The end of the client is the end of its session, or leads there.
    if (!isZkError(error, "CLIENT_CLOSED") && !isZkError(error, "SESSION_EXPIRED")) throw error;
  });
  using loss = new LossAlarm(zk);
  await Promise.race([deleting, loss.rung]);
}

/** The same where nobody waits: what cannot be deleted stays, and goes with its session. */
export function deleteOwnNodeLater(zk: Client, path: string): void {
  deleteOwnNode(zk, path).catch(() => {});
}

/** The same for an ephemeral whose name others may take: only what is the session's still, and the same node. */
export async function deleteOwnNamedNode(zk: Client, { path, stat: { czxid } }: Created): Promise<void> {
  using loss = new LossAlarm(zk);
  await Promise.race([deleteIfSame(zk, path, czxid), loss.rung]);
}

async function deleteIfSame(zk: Client, path: string, czxid: Zxid): Promise<void> {
  for (;;) {
    try {
      const stat = await zk.exists(path);
      // Another session's goes with that, or is somebody else's.
      if (stat?.czxid !== czxid || stat.ephemeralOwner !== zk.sessionId) return;
      await zk.delete(path, { guaranteed: "session", missingOk: true });
    } catch (error) {
      if (isZkError(error, "CLIENT_CLOSED") || isZkError(error, "SESSION_EXPIRED")) return;
      if (!isZkError(error) || !error.retriable) throw error;
      await pause(AGAIN_MS, undefined, { ref: false });
    }
  }
}
