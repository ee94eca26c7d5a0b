import { createHash, randomBytes, randomInt } from "node:crypto";
import { MajorityQuorum, membersOf, type ServerId, serverId, ZXID_NONE } from "@zooid/model";
import {
  type HistoryAccess,
  REPLICA_DEFAULTS,
  type ReplicaConfig,
  type ReplicaLimits,
  type ReplicaTools,
} from "@zooid/replica";
import type { HistoryQueries } from "@zooid/txn-log/sqlite";
import { encodePastChanges, encodePastChildren, encodePastNode, encodePastRefusal, RequestReader } from "@zooid/wire";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import type { ClientAuth } from "./clients/client-auth.ts";
import type { ServerConfig } from "./config.ts";
import type { Driver } from "./driver/driver.ts";
import type { DriverConfig, DriverLimits } from "./driver/driver-config.ts";
import { HistoryTurns } from "./driver/history-turns.ts";
import { type QuorumPeerConfig, quorumOf } from "./peers/ensemble-config.ts";
import { DigestMd5Exchange } from "./sasl/digest-md5.ts";
import { GssapiExchange } from "./sasl/gssapi.ts";

/** The sid of a standalone server. */
const SELF = serverId(1);
/** `auth` entries of one request may expand to several times their length. */
const TXN_BYTES_BEYOND_FRAME = 4 * 1024 * 1024;
/**
 * A batch is copied to the log and to each follower in one piece, which holds the event loop. The
 * ring to the log's thread has room for three.
 */
const BATCH_BYTES_MAX = 1024 * 1024;
/**
 * Some 120 writes of 1 KiB: as many as pay for waking the log thread. Measured, half as much is
 * slower, twice as much no faster.
 */
const BATCH_BYTES = 128 * 1024;

export function sidOf({ ensemble }: Pick<ServerConfig, "ensemble">): ServerId {
  return ensemble?.sid ?? SELF;
}

/** The driver's part of a server's configuration. @param version of the server */
export function driverConfigOf(config: ServerConfig, version: string | undefined): DriverConfig {
  return {
    replica: { ...replicaConfigOf(config), version },
    limits: {
      frameBytesMax: config.frameBytesMax,
      outputBytesHigh: Math.min(1024 * 1024, config.outputBytesMax),
      outputBytesMax: config.outputBytesMax,
      closingMs: config.sessionlessTimeoutMs,
    },
    sessionlessTimeoutMs: config.sessionlessTimeoutMs,
    connectionThrottle: config.connectionThrottle,
    authFailures: config.auth.failures,
    batchesInFlightMax: 4,
    batchBytes: BATCH_BYTES,
    deliverCountMax: 4096,
  };
}

function replicaConfigOf(config: ServerConfig): Omit<ReplicaConfig, "version"> {
  const { ensemble } = config;
  return {
    ...REPLICA_DEFAULTS,
    ...replicaLimitsOf(config),
    sid: sidOf(config),
    levels: config.levels,
    verifier: ensemble === undefined ? new MajorityQuorum([SELF]) : quorumOf({ servers: ensemble.directory.files }),
    ensemble: ensemble === undefined ? undefined : memberOf(config, ensemble),
    isReconfigEnabled: config.reconfigEnabled,
    tickMs: config.tickMs,
    auth: {
      superDigest: config.superDigest,
      digestEnabled: config.digestEnabled,
      skipAcl: config.skipAcl,
      ...config.auth.rules,
    },
    outstandingCountMax: config.outstandingCountMax,
    watchCountMax: config.watchCountMax,
    isTtlEnabled: config.ttlNodes,
    trustedProxies: config.trustedProxies,
    // Any single request fits, whatever its ACL expands to; messages between servers may be far
    // larger.
    txnBytesMax: config.frameBytesMax + TXN_BYTES_BEYOND_FRAME,
    // A larger answer would cut its client off.
    childrenBytesMax: config.outputBytesMax,
    reaping: config.reaping,
    hashKey: { k0: randomInt(2 ** 32) | 0, k1: randomInt(2 ** 32) | 0 },
  };
}

/** The driver's limits that a reload may change. */
export function driverLimitsOf(config: ServerConfig): DriverLimits {
  return {
    replica: replicaLimitsOf(config),
    connectionThrottle: config.connectionThrottle,
    authFailures: config.auth.failures,
  };
}

function replicaLimitsOf(config: ServerConfig): ReplicaLimits {
  return {
    sessionTimeoutMsMin: config.sessionTimeoutMsMin,
    sessionTimeoutMsMax: config.sessionTimeoutMsMax,
    isQuotaEnforced: config.enforceQuota,
    heldBytesMax: config.heldBytesMax,
    multiOpCountMax: config.multiPartsMax,
    watchBytesMax: config.watchBytesMax,
    createdListingBytesMax: config.childrenBytesMax,
    slowRequestMs: config.slowRequestMs,
  };
}

/** Codecs, hash functions and randomness for the replica. */
export function replicaToolsOf(
  { auth, digestAlgorithm }: ServerConfig,
  kerberosFailed: (reason: string) => void,
  readHistory: HistoryAccess["read"] | undefined,
): ReplicaTools {
  const sasl = saslOf(auth, kerberosFailed);
  return {
    requests: new RequestReader(),
    batcher: new TxnBatchEncoder(undefined, BATCH_BYTES_MAX),
    txns: new TxnReader(),
    entries: new TxnReader(),
    hashes: {
      digest: (bytes) => createHash(digestAlgorithm).update(bytes).digest(),
      sha256: (bytes) => createHash("sha256").update(bytes).digest(),
    },
    ...(sasl === undefined ? {} : { sasl }),
    ...(readHistory === undefined
      ? {}
      : {
          history: {
            read: readHistory,
            encodeRefusal: encodePastRefusal,
            encodeNode: encodePastNode,
            encodeChildren: encodePastChildren,
            encodeChanges: encodePastChanges,
          },
        }),
    random: Math.random,
  };
}

/**
 * Reads of the past for the replica: in turns, so that no address keeps the others waiting.
 * Undefined where no history is kept.
 */
export function historyReadOf(
  history: HistoryQueries | undefined,
  proxiesShare: number,
  driver: () => Driver,
): HistoryAccess["read"] | undefined {
  if (history === undefined) return undefined;
  const turns = new HistoryTurns({
    now: () => performance.now(),
    proxiesShare,
    ask: (query) => history.ask(query),
    answered: (serial, answer) => driver().input(() => driver().replica.historyRead(serial, answer)),
  });
  return (serial, query, asker) => turns.read(serial, query, asker);
}

/**
 * The mechanism of SASL: as with Apache's server, Kerberos where the server has a principal, else
 * DIGEST-MD5.
 */
function saslOf({ saslUsers, kerberos }: ClientAuth, failed: (reason: string) => void): ReplicaTools["sasl"] {
  if (kerberos !== undefined) {
    const { acceptor, names } = kerberos;
    return () => new GssapiExchange({ context: acceptor.context(), names, failed });
  }
  return saslUsers === undefined ? undefined : () => new DigestMd5Exchange(saslUsers);
}

/** The settings of an ensemble's member that concern the replica. */
function memberOf(config: ServerConfig, ensemble: QuorumPeerConfig): NonNullable<ReplicaConfig["ensemble"]> {
  return {
    isObserver: ensemble.isObserver,
    electionAlg: ensemble.electionAlg,
    initLimit: ensemble.initLimit,
    syncLimit: ensemble.syncLimit,
    foundingWaitMs: ensemble.foundingWaitMs,
    hasPast: ensemble.version !== ZXID_NONE,
    newEnsembleId: randomBytes(8).toString("hex"),
    // A version in the name of a file counts where files follow the configuration.
    members: membersOf(ensemble.directory.files, config.reconfigEnabled ? ensemble.version : ZXID_NONE, {
      clients: ensemble.clients,
    }),
    voterCountMin: config.reconfigEnabled && config.standaloneEnabled ? 2 : 1,
    leaderServes: config.leaderServes,
    localSessions: config.localSessions,
    localSessionsUpgrading: config.localSessionsUpgrading,
    readOnlyMode: config.readOnlyMode,
  };
}
