import type { ReapLimits } from "@zooid/data-tree";
import {
  ACL_COUNT_MAX,
  BUDGETS,
  type HashKey,
  type KnownLevels,
  type Members,
  NO_PROXIES,
  OWN_LEVELS,
  type QuorumVerifier,
  type ServerId,
  type TrustedProxies,
} from "@zooid/model";
import type { AuthConfig } from "./auth/auth-schemes.ts";
import type { IdentityLimits } from "./auth/identities.ts";

/** How empty containers and expired TTL nodes are removed. */
export interface ReapingConfig extends ReapLimits {
  /** From the start of one round to the start of the next. */
  readonly checkIntervalMs: number;
  /** Removals in a minute, at most. */
  readonly perMinuteMax: number;
}

/** One server's place in an ensemble of several. */
export interface MemberConfig {
  /** It never votes, and gets what is committed. */
  readonly isObserver: boolean;
  readonly electionAlg: 0 | 3;
  /** Ticks for a learner to connect and be brought forward. */
  readonly initLimit: number;
  /** Ticks of silence before the other side is given up. */
  readonly syncLimit: number;
  /**
   * Time for which no ensemble is founded without a voter that cannot be reached, in milliseconds.
   * Undefined where the driver reports no connections: see the broadcast's `PeerConfig`.
   */
  readonly foundingWaitMs?: number;
  /** The server's files name a version of its configuration. Default: as `members` say. */
  readonly hasPast?: boolean;
  /** The ensemble's id, should it have none yet when this server first leads. */
  readonly newEnsembleId: string;
  /**
   * The first configuration of the ensemble; a newer one in the log takes its place. Without
   * `isReconfigEnabled` it is also what the operator asks for at each start. Undefined for a server
   * that counts by its own list for good, as version 0.1.0 does.
   */
  readonly members?: Members;
  /**
   * Voters that a configuration has at least: one more than a server that can serve alone. Default
   * 1.
   */
  readonly voterCountMin?: number;
  /** Where an epoch's counter ends; for tests. */
  readonly counterMax?: number;
  /** Bytes sent to one learner and not acked; see the broadcast's `PeerConfig`. */
  readonly windowBytes?: number;
  /** Bytes that the entries of one message hold, about; see the broadcast's `PeerConfig`. */
  readonly runBytes?: number;
  /** Whether the leader serves clients of its own. Default true. */
  readonly leaderServes?: boolean;
  /** Sessions begin as local ones and cost no write. Default false. */
  readonly localSessions?: boolean;
  /** A local session becomes one of the ensemble when it creates an ephemeral. Default false. */
  readonly localSessionsUpgrading?: boolean;
  /**
   * Serve reads to clients that accept read-only service while there is no quorum. Default false.
   */
  readonly readOnlyMode?: boolean;
}

export interface ReplicaConfig extends IdentityLimits {
  readonly sid: ServerId;
  readonly verifier: QuorumVerifier;
  /** Its place among other servers; undefined for an ensemble of one. */
  readonly ensemble: MemberConfig | undefined;
  /** Clients may ask for changes of the ensemble's configuration. Else the servers' files do. */
  readonly isReconfigEnabled: boolean;
  /** The unit of session expiry. */
  readonly tickMs: number;
  readonly sessionTimeoutMsMin: number;
  readonly sessionTimeoutMsMax: number;
  readonly auth: AuthConfig;
  /** TTL nodes are allowed. */
  readonly isTtlEnabled: boolean;
  readonly reaping: ReapingConfig;
  /**
   * Hard quotas refuse writes, and writes beyond soft ones are reported. Usage is always counted.
   */
  readonly isQuotaEnforced: boolean;
  /**
   * The largest tree in bytes, as its `heldBytes` counts them; a leader refuses writes beyond it.
   */
  readonly heldBytesMax: number;
  /**
   * Requests of one connection that are read and not answered; beyond it the connection is not
   * read.
   */
  readonly inFlightCountMax: number;
  /** Bytes of such requests that wait behind a write. */
  readonly inFlightBytesMax: number;
  /**
   * Estimated bytes of the answers to those requests, which are all sent when the write commits.
   * Beyond it the connection is not read.
   */
  readonly waitingAnswerBytesMax: number;
  /** Writes of all connections prepared and not yet committed; beyond it no connection is read. */
  readonly outstandingCountMax: number;
  readonly outstandingBytesMax: number;
  /** Paths that writes prepared and not yet applied concern; beyond it no connection is read. */
  readonly outstandingPathCountMax: number;
  /** Watches of one connection; a request for more ends the connection. */
  readonly watchCountMax: number;
  /** Proxies whose connections have shares of their own, and what they have together. */
  readonly trustedProxies: TrustedProxies;
  /**
   * Bytes of the watches of all connections; beyond it the address whose watches take most gives
   * way.
   */
  readonly watchBytesMax: number;
  /** Data and names in the answer to one multiRead; a request for more is refused. */
  readonly multiReadBytesMax: number;
  /** Bytes of the paths in the answer to getEphemerals; beyond it the request is refused. */
  readonly ephemeralsBytesMax: number;
  /**
   * The work of getEphemerals: each ephemeral of the session counts 1, and each name and each 64
   * bytes of the path above it, once for siblings that follow one another. Beyond it the request is
   * refused.
   */
  readonly ephemeralsWorkMax: number;
  /** Children in all lists of one multiRead; a request for more is refused. */
  readonly multiReadChildrenMax: number;
  /** Names in the answer to one getChildren or getChildren2; a request for more is refused. */
  readonly childrenBytesMax: number;
  /**
   * The greatest size of the names of one node's children in a listing; a create beyond it is
   * refused.
   */
  readonly createdListingBytesMax: number;
  /** Entries of an access list, at most `ACL_COUNT_MAX`; a longer one is refused. */
  readonly aclCountMax: number;
  /**
   * Bytes of one transaction: a larger multi is refused with MARSHALLING_ERROR. More than any
   * single request becomes, and well below the largest frame between servers.
   */
  readonly txnBytesMax: number;
  /** Parts of one multi; one with more is refused with MARSHALLING_ERROR. */
  readonly multiOpCountMax: number;
  /** Reads in one multiRead, which is answered in one piece; one with more is refused. */
  readonly multiReadCountMax: number;
  /**
   * Maximum number of names in all paths of one multiRead, each of which takes a look-up; one with
   * more is refused.
   */
  readonly multiReadNamesMax: number;
  /**
   * Entries of all different access lists in one multi, `auth` expanded; one with more is refused
   * with MARSHALLING_ERROR.
   */
  readonly multiAclCountMax: number;
  /**
   * Maximum number of names in all paths of one multi, each of which takes a look-up; one with more
   * is refused with MARSHALLING_ERROR.
   */
  readonly multiPathNamesMax: number;
  /** Ephemerals, and bytes of their paths, that one transaction removes when a session ends. */
  readonly closeOpCountMax: number;
  readonly closePathBytesMax: number;
  /** Work of preparing one multi in one turn, in units of about a microsecond. */
  readonly prepareWorkPerTurn: number;
  /**
   * Time that applying the writes in flight may take, in microseconds, as `WriteShares` counts it.
   */
  readonly writeWorkUsMax: number;
  /** Ops of transactions that end sessions, in one turn. */
  readonly endOpCountPerTurn: number;
  /** Forwarded writes that a leader prepares in one turn, by their ops and their bytes. */
  readonly forwardOpCountPerTurn: number;
  /**
   * Work of applying in one turn: an op counts 2, more with a long path, each further entry of its
   * ACL 2, and a notification 1. A larger transaction takes several turns.
   */
  readonly applyWorkPerTurn: number;
  /** Work of all setWatches in one turn: a path counts 2, a long or deep one more. */
  readonly setWatchesWorkPerTurn: number;
  /** Waiting requests that are answered in one turn; fewer if they are long or costly. */
  readonly releaseWorkPerTurn: number;
  /**
   * Duration from which a request is reported with its stages, as a `slow-request` event. Infinity:
   * none is.
   */
  readonly slowRequestMs: number;
  /**
   * Key of the hash tables with names that clients choose; random, new at each start, and secret.
   */
  readonly hashKey: HashKey;
  /** The feature levels that this server knows, with their operations. Default: this version's. */
  readonly levels: KnownLevels;
  /** The version of this server, as operators of the ensemble see it. Default: it says none. */
  readonly version: string | undefined;
}

/** Limits that may change while the replica runs. */
export type ReplicaLimits = Pick<
  ReplicaConfig,
  | "sessionTimeoutMsMin"
  | "sessionTimeoutMsMax"
  | "isQuotaEnforced"
  | "heldBytesMax"
  | "watchBytesMax"
  | "createdListingBytesMax"
  | "multiOpCountMax"
  | "slowRequestMs"
>;

/** Fields without a default. */
type RequiredOfCallers = "sid" | "verifier" | "sessionTimeoutMsMin" | "sessionTimeoutMsMax" | "auth" | "hashKey";

export const REPLICA_DEFAULTS: Omit<ReplicaConfig, RequiredOfCallers> = {
  tickMs: 2000,
  inFlightCountMax: 4096,
  inFlightBytesMax: 4_194_304,
  waitingAnswerBytesMax: 1_048_576,
  outstandingCountMax: 65_536,
  outstandingBytesMax: 64_194_304,
  outstandingPathCountMax: 262_144,
  watchCountMax: 1_000_000,
  watchBytesMax: 512 * 1024 * 1024,
  multiReadBytesMax: 16 * 1024 * 1024,
  ephemeralsBytesMax: 8 * 1024 * 1024,
  ephemeralsWorkMax: 131_072,
  multiReadChildrenMax: 65_536,
  childrenBytesMax: 64 * 1024 * 1024,
  createdListingBytesMax: 64 * 1024 * 1024,
  aclCountMax: ACL_COUNT_MAX,
  identityCountMax: 64,
  identityBytesMax: 1024,
  identitiesBytesMax: 32 * 1024,
  txnBytesMax: 5 * 1024 * 1024,
  multiOpCountMax: 20_000,
  multiReadCountMax: 3000,
  multiReadNamesMax: 32_768,
  multiAclCountMax: 5000,
  multiPathNamesMax: 131_072,
  closeOpCountMax: 500,
  closePathBytesMax: 32 * 1024,
  prepareWorkPerTurn: 2000,
  writeWorkUsMax: BUDGETS.writesInFlight.workUs,
  endOpCountPerTurn: 1000,
  forwardOpCountPerTurn: 1000,
  applyWorkPerTurn: 500,
  setWatchesWorkPerTurn: 1500,
  releaseWorkPerTurn: 256,
  slowRequestMs: Number.POSITIVE_INFINITY,
  isReconfigEnabled: false,
  isTtlEnabled: false,
  isQuotaEnforced: false,
  heldBytesMax: Number.POSITIVE_INFINITY,
  trustedProxies: NO_PROXIES,
  levels: OWN_LEVELS,
  version: undefined,
  reaping: { checkIntervalMs: 60_000, perMinuteMax: 10_000, neverUsedMsMax: 0 },
  ensemble: undefined,
};
