import type { SessionId } from "@zooid/model";
import type { SimClient } from "../clients/sim-client.ts";
import { SESSION_TIMEOUT_MS } from "../cluster/server-options.ts";
import { Violation } from "./violation.ts";

/**
 * L6: a leader does not expire the session of a client that it heard from within the session
 * timeout.
 */
export function checkExpiry(clients: readonly SimClient[], session: SessionId, zxid: number): void {
  for (const { heardAt, name, session: own, tenant } of clients) {
    // Not everything that a tenant sends is a request of its session.
    if (tenant !== undefined || own !== session || heardAt === undefined) continue;
    const { first, last, forMs } = heardAt;
    if (zxid < first || zxid > last || forMs >= SESSION_TIMEOUT_MS) continue;
    throw new Violation("L6", `${name}'s session expires ${forMs} ms after the leader heard from it`);
  }
}
