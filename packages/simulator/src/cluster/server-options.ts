import type { KnownLevels, QuorumVerifier, ReplySink, ServerId } from "@zooid/model";
import type { MemberConfig } from "@zooid/replica";
import type { Limits } from "./limits.ts";

export const TICK_MS = 200;
export const INIT_LIMIT = 10;
export const SYNC_LIMIT = 5;
/**
 * Time that a server which cannot be reached is awaited before an ensemble is founded without it.
 */
export const FOUNDING_WAIT_MS = 1000;
export const SESSION_TIMEOUT_MS = 2000;
/** The time of wall clocks at virtual time 0, in milliseconds since 1970, before any skew. */
export const WALL_CLOCK_START_MS = 1_000_000;

export interface ServerOptions {
  readonly sid: ServerId;
  readonly verifier: QuorumVerifier;
  readonly isObserver: boolean;
  /** Default: 3, fast leader election. */
  readonly electionAlg?: 0 | 3;
  /** Default: 200. */
  readonly tickMs?: number;
  /** The shortest session timeout that is granted. Default: 2000. */
  readonly sessionTimeoutMsMin?: number;
  /** The longest session timeout that is granted. Default: 2000. */
  readonly sessionTimeoutMsMax?: number;
  readonly counterMax?: number;
  readonly windowBytes?: number;
  readonly runBytes?: number;
  /** Bytes from which a batch of proposals is full. Default: never. */
  readonly batchBytesMax?: number;
  /** Further settings of the ensemble. */
  readonly ensemble?: Partial<MemberConfig>;
  /** Without `reconfigEnabled`: the members in its files are what its operator asks for. */
  readonly takesMembersFromFiles?: boolean;
  /** Servers that it does not list, and whose connections it refuses. */
  readonly refused?: readonly ServerId[];
  /** One server without election and links; it begins an epoch when it starts. */
  readonly standalone?: boolean;
  /** Default: a replica's own. */
  readonly limits?: Limits;
  /**
   * Whether a turn may end while a transaction is applied in part, and while more is due to be
   * applied.
   */
  readonly hasShortTurns?: boolean;
  /** A turn ends at once and delivers one transaction at a time: no random choice. */
  readonly isSteady?: boolean;
  /** The feature levels that its version knows. Default: those of this version. */
  readonly levels?: KnownLevels;
  /** Receives replies in place of the watcher, to encode them for instance. */
  readonly replies?: ReplySink;
}
