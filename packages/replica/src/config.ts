import { ACL_COUNT_MAX, type HashKey, type QuorumVerifier, type ServerId } from "@zooid/model";
import type { AuthConfig } from "./auth/auth-schemes.ts";
import type { IdentityLimits } from "./auth/identities.ts";
import type { ReapingConfig } from "./writes/reaper.ts";

/** One server's place in an ensemble of several. */
export interface EnsembleConfig {
  /** It never votes, and gets what is committed. */
  readonly isObserver: boolean;
  readonly electionAlg: 0 | 3;
  /** Ticks for a learner to connect and be brought forward. */
  readonly initLimit: number;
  /** Ticks of silence before the other side is given up. */
  readonly syncLimit: number;
  /** The ensemble's id, should it have none yet when this server first leads. */
  readonly newEnsembleId: string;
  /** What clients read in `/zookeeper/config`. Default: what is stored there, which is nothing. */
  readonly configuration?: string;
  /** Where an epoch's counter ends; for tests. */
  readonly counterMax?: number;
  /** Bytes on their way to one learner and not acked; see the broadcast's `PeerConfig`. */
  readonly windowBytes?: number;
  /** Entries in one message hold about so much; see the broadcast's `PeerConfig`. */
  readonly runBytes?: number;
  /** Whether the leader serves clients of its own. Default true. */
  readonly leaderServes?: boolean;
  /** Sessions begin as this server's own and cost no write. Default false. */
  readonly localSessions?: boolean;
  /** A session of its own becomes one of the ensemble's when it needs an ephemeral. Default false. */
  readonly localSessionsUpgrading?: boolean;
  /** Serve reads to those who ask for it while there is no quorum. Default false. */
  readonly readOnlyMode?: boolean;
}

export interface ReplicaConfig extends IdentityLimits {
  readonly sid: ServerId;
  readonly verifier: QuorumVerifier;
  /** How it works together with others; undefined for an ensemble of one. */
  readonly ensemble: EnsembleConfig | undefined;
  /** The unit of session expiry. */
  readonly tickMs: number;
  readonly sessionTimeoutMsMin: number;
  readonly sessionTimeoutMsMax: number;
  readonly auth: AuthConfig;
  /** TTL nodes are allowed. */
  readonly isTtlEnabled: boolean;
  readonly reaping: ReapingConfig;
  /** Hard quotas refuse writes, and operators are told of writes beyond soft ones. Usage is counted in any case. */
  readonly isQuotaEnforced: boolean;
  /** What the tree may hold, in bytes as its `heldBytes` counts them; a leader refuses what would add to it. */
  readonly heldBytesMax: number;
  /** Requests of one connection that are read and not answered; beyond it the connection is not read. */
  readonly inFlightCountMax: number;
  /** Bytes of such requests that wait behind a write. */
  readonly inFlightBytesMax: number;
  /**
   * Bytes that the answers to those requests will take, about: all of them are given in the moment in which the write commits. Beyond it
   * the connection is not read.
   */
  readonly waitingAnswerBytesMax: number;
  /** Writes of all connections prepared and not yet committed; beyond it no connection is read. */
  readonly outstandingCountMax: number;
  readonly outstandingBytesMax: number;
  /** Paths that writes prepared and not yet applied concern; beyond it no connection is read. */
  readonly outstandingPathCountMax: number;
  /** Watches of one connection; a request for more ends the connection. */
  readonly watchCountMax: number;
  /** What the watches of all connections may take in memory; beyond it the connection with the most is closed. */
  readonly watchBytesMax: number;
  /** Data and names in the answer to one multiRead; a request for more is refused. */
  readonly multiReadBytesMax: number;
  /** Paths of the ephemerals of a session that asks for them; a session with more is refused. */
  readonly ephemeralsBytesMax: number;
  /**
   * What is looked at for it: each ephemeral of the session counts 1, and each name and each 64 bytes of the path above, once for siblings
   * that follow one another. A session with more is refused.
   */
  readonly ephemeralsWorkMax: number;
  /** Children in all lists of one multiRead; a request for more is refused. */
  readonly multiReadChildrenMax: number;
  /** Names in the answer to one getChildren or getChildren2; a request for more is refused. */
  readonly childrenBytesMax: number;
  /** Entries of an access list, at most `ACL_COUNT_MAX`; a longer one is refused. */
  readonly aclCountMax: number;
  /**
   * Bytes of one transaction: a multi whose parts make more is refused with MARSHALLING_ERROR. Above what any single request makes, and
   * well below the largest frame between servers.
   */
  readonly txnBytesMax: number;
  /** Parts of one multi; one with more is refused with MARSHALLING_ERROR. */
  readonly multiOpCountMax: number;
  /** Reads in one multiRead, which is answered in one piece; one with more is refused. */
  readonly multiReadCountMax: number;
  /** Names in all paths of one multiRead, each looked up by itself; one with more is refused. */
  readonly multiReadNamesMax: number;
  /** Entries of all different access lists in one multi, `auth` expanded; one with more is refused with MARSHALLING_ERROR. */
  readonly multiAclCountMax: number;
  /** Names in all paths of one multi, each looked up by itself; one with more is refused with MARSHALLING_ERROR. */
  readonly multiPathNamesMax: number;
  /** Ephemerals, and bytes of their paths, that one transaction of a session's end removes; the rest goes with the next one. */
  readonly closeOpCountMax: number;
  readonly closePathBytesMax: number;
  /** What is prepared of one multi in one piece, in units of about a microsecond; the rest has the next turn. */
  readonly prepareWorkPerTurn: number;
  /** Ops of transactions that end sessions, in one turn; the rest has the next one. */
  readonly endOpCountPerTurn: number;
  /** Forwarded writes, counted by the ops that they become and by their bytes, that a leader prepares in one turn; the rest has the next one. */
  readonly forwardOpCountPerTurn: number;
  /** What applying does in one piece: an op counts 2, as each further entry of its access list does, and more with a long path, a notification 1. A transaction that takes more goes on in the next turn. */
  readonly applyWorkPerTurn: number;
  /** What setWatches do in one piece: a path counts 2, and more where it is long or deep. The rest has the next turn. */
  readonly setWatchesWorkPerTurn: number;
  /** What is answered in one piece of what waited behind writes: so many requests, fewer where they are long or costly. The rest has the next turn. */
  readonly releaseWorkPerTurn: number;
  /** Of the tables that names chosen by strangers go into; drawn at the start, and known to nobody else. */
  readonly hashKey: HashKey;
}

/** Fields that have no default: they tell who this server is and for whom it works. */
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
  endOpCountPerTurn: 1000,
  forwardOpCountPerTurn: 1000,
  applyWorkPerTurn: 1500,
  setWatchesWorkPerTurn: 3000,
  releaseWorkPerTurn: 256,
  isTtlEnabled: false,
  isQuotaEnforced: false,
  heldBytesMax: Number.POSITIVE_INFINITY,
  reaping: { checkIntervalMs: 60_000, perMinuteMax: 10_000, neverUsedMsMax: 0 },
  ensemble: undefined,
};
