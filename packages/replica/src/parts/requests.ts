import type { AuthPackets } from "../auth/auth-packets.ts";
import type { Admission } from "../connections/admission.ts";
import type { WatchBudget } from "../connections/watch-budget.ts";
import type { WatchNotifications } from "../delivery/watch-notifications.ts";
import type { LocalReads } from "../reads/local-reads.ts";
import type { WatchRequests } from "../reads/watch-requests.ts";
import type { ClientRequests } from "../requests/client-requests.ts";
import type { ClientSyncs } from "../requests/client-syncs.ts";
import type { ClientWrites } from "../requests/client-writes.ts";
import type { HistoryRequests } from "../requests/history-requests.ts";
import type { SetWatches } from "../requests/set-watches.ts";
import type { WaitingRequests } from "../requests/waiting-requests.ts";
import type { SessionParts } from "./sessions.ts";

export interface RequestParts extends SessionParts {
  readonly admission: Admission;
  readonly watchBudget: WatchBudget;
  readonly notifications: WatchNotifications;
  readonly requests: ClientRequests;
  readonly clientWrites: ClientWrites;
  readonly syncs: ClientSyncs;
  readonly waiting: WaitingRequests;
  readonly setWatches: SetWatches;
  readonly historyRequests: HistoryRequests;
  readonly authPackets: AuthPackets;
  readonly reads: LocalReads;
  readonly watchRequests: WatchRequests;
}
