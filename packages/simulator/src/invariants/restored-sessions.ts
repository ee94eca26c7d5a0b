import { type SessionId, sessionIdFromHalves } from "@zooid/model";
import type { SimServer } from "../cluster/server.ts";
import type { RestoredSessions } from "../cluster/state-image.ts";
import type { ModelImage } from "../model/history.ts";
import { Violation } from "./violation.ts";

/**
 * R2: a server that has loaded a restored state has the sessions of that time and no other, each
 * with its ephemerals; they live on where they are to be kept, and else their end has begun.
 */
export function checkRestoredSessions(
  { sid, replica: { tree } }: SimServer,
  { model, sessions }: Pick<ModelImage, "model" | "sessions">,
  become: RestoredSessions,
): void {
  const left = new Map<SessionId, boolean>(sessions.unclosed());
  const owned = model.ephemeralCounts();
  tree.forEachSession((high, low, timeoutMs) => {
    const session = sessionIdFromHalves(high, low);
    const where = `server ${sid} has loaded a restored state in which session ${session}`;
    const isLiving = left.get(session);
    if (isLiving === undefined) throw new Violation("R2", `${where} lives, which was not of that time`);
    left.delete(session);
    const lives = timeoutMs > 0;
    if (lives !== (isLiving && become === "keep")) throw new Violation("R2", `${where} ${lives ? "lives" : "ends"}`);
    const [count, expected] = [tree.ephemeralCountOf(high, low), owned.get(session) ?? 0];
    if (count !== expected) throw new Violation("R2", `${where} has ${count} ephemerals, and had ${expected}`);
  });
  for (const session of left.keys())
    throw new Violation("R2", `server ${sid} has loaded a restored state without session ${session} of that time`);
}
