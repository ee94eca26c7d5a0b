import type { DataTree } from "@zooid/data-tree";
import type { ByteSlice, ClientShares, Request } from "@zooid/model";
import type { ZabPeer } from "@zooid/zab";
import type { AuthSchemes } from "../auth/auth-schemes.ts";
import type { ReplicaConfig } from "../config.ts";
import type { Connections } from "../connections/connections.ts";
import type { Counters } from "../counters.ts";
import type { DigestHistory } from "../delivery/digest-history.ts";
import type { RequestForwarder } from "../forwarding/request-forwarder.ts";
import type { Membership } from "../membership.ts";
import type { RequestWork } from "../reads/request-work.ts";
import type { ServingState } from "../serving-state.ts";
import type { EndingSessions } from "../sessions/ending-sessions.ts";
import type { UnconfirmedRefusals } from "../sessions/unconfirmed-refusals.ts";
import type { ReplicaSinks } from "../sinks.ts";
import type { ReplicaTools } from "../tools.ts";
import type { WriteShares } from "../writes/write-shares.ts";
import type { PostponedWork } from "./postponed-work.ts";

/**
 * The parts of a replica that use no others. Each file of this folder is a layer on the one before:
 * ground, writes, sessions, requests, delivery, roles. A part is typed by what lies below it, so
 * that its imports point down; where two of a layer need each other, they name each other.
 */
export interface GroundParts {
  readonly config: ReplicaConfig;
  readonly tools: ReplicaTools;
  readonly sinks: ReplicaSinks;
  readonly auth: AuthSchemes;
  readonly tree: DataTree;
  readonly membership: Membership;
  readonly zab: ZabPeer;
  readonly servingState: ServingState;
  readonly postponed: PostponedWork;
  readonly counters: Counters;
  readonly clientShares: ClientShares;
  readonly connections: Connections;
  /** Every request of a client is decoded into it: one is handled at a time. */
  readonly request: Request;
  /** The frame of the request. It is valid during the call; a request that waits copies it. */
  readonly frame: ByteSlice;
  readonly requestWork: RequestWork;
  readonly endingSessions: EndingSessions;
  readonly unconfirmedRefusals: UnconfirmedRefusals;
  readonly writeShares: WriteShares;
  readonly forwarder: RequestForwarder;
  readonly digests: DigestHistory;
}
