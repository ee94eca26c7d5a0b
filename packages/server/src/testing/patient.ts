import { filter, firstValueFrom } from "rxjs";
import type { ZooidServer } from "../server-api.ts";

/**
 * For ensembles of tests that are not about silence: no server is given up because a busy machine
 * keeps it silent for a few ticks. With the defaults an election may begin between any two requests
 * of a test. A connection that closes is noticed at once as ever.
 */
export const PATIENT: { readonly syncLimit: number } = { syncLimit: 300 };

/**
 * Resolves once each of these leads, follows or observes. An ensemble serves before: its last voter
 * may have no data yet, and then cannot help to elect a leader where a test stops another one.
 */
export async function allServe(servers: Iterable<Pick<ZooidServer, "role$">>): Promise<void> {
  const serving = ({ role$ }: Pick<ZooidServer, "role$">): Promise<unknown> =>
    firstValueFrom(role$.pipe(filter((role) => role !== "looking")));
  await Promise.all([...servers].map(serving));
}
