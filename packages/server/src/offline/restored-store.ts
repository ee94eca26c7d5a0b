import type { Store } from "@zooid/txn-log/sqlite";
import { withOfflineStore } from "./offline-store.ts";
import { restoreHistory } from "./restore-history.ts";
import type { RestorePlan } from "./restore-plan.ts";

const STANDALONE_SID = 1;

/**
 * Opens a state of a history, at its own zxid and with its sessions, in a new directory.
 *
 * @throws OfflineError, StoreError and what `use` throws
 */
export async function withRestoredStore<T>(
  plan: RestorePlan,
  { copy, signal, warn }: { readonly copy: string; readonly signal?: AbortSignal; warn(text: string): void },
  use: (store: Store) => Promise<T>,
): Promise<T> {
  // Ended sessions would be transactions of their own, behind the state that is wanted.
  const command = "zooid-server export or inspect";
  const directories = { dataDir: copy };
  const ended = signal === undefined ? {} : { signal };
  await restoreHistory(plan, { directories, command, member: undefined, keepsSessions: true, ...ended, warn });
  return await withOfflineStore({ directory: copy, sid: STANDALONE_SID, warn }, use);
}
