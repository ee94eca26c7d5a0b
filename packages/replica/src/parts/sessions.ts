import type { ForwardedRequests } from "../forwarding/forwarded-requests.ts";
import type { ConnectRequests } from "../sessions/connect-requests.ts";
import type { SessionCreation } from "../sessions/session-creation.ts";
import type { SessionEnds } from "../sessions/session-ends.ts";
import type { SessionRenewal } from "../sessions/session-renewal.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { WriteParts } from "./writes.ts";

export interface SessionParts extends WriteParts {
  readonly sessions: Sessions;
  readonly sessionEnds: SessionEnds;
  readonly connectRequests: ConnectRequests;
  readonly sessionCreation: SessionCreation;
  readonly sessionRenewal: SessionRenewal;
  readonly forwarded: ForwardedRequests;
}
