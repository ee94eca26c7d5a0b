import { createHash } from "node:crypto";
import { type HashKey, NO_PROXIES, parseProxyRange } from "@zooid/model";
import { type MemberConfig, REPLICA_DEFAULTS, type ReplicaConfig, type ReplicaTools } from "@zooid/replica";
import { RequestReader } from "@zooid/wire";
import { TxnBatchEncoder, TxnReader } from "@zooid/wire/txn";
import type { Prng } from "./prng.ts";
import {
  FOUNDING_WAIT_MS,
  INIT_LIMIT,
  SESSION_TIMEOUT_MS,
  type ServerOptions,
  SYNC_LIMIT,
  TICK_MS,
} from "./server-options.ts";
import { PROXY_RANGE } from "./trusted-proxy.ts";

const proxyRange = parseProxyRange(PROXY_RANGE);
const PROXIES = { ...NO_PROXIES, ranges: proxyRange === undefined ? [] : [proxyRange] };

/**
 * The configuration of a simulated server's replica: short ticks and one session timeout by
 * default, and its own keys.
 */
export function replicaConfigOf(options: ServerOptions, secrets: Prng): ReplicaConfig {
  const { tickMs = TICK_MS } = options;
  return {
    ...REPLICA_DEFAULTS,
    ...options.limits,
    sid: options.sid,
    verifier: options.verifier,
    tickMs,
    sessionTimeoutMsMin: options.sessionTimeoutMsMin ?? SESSION_TIMEOUT_MS,
    sessionTimeoutMsMax: options.sessionTimeoutMsMax ?? SESSION_TIMEOUT_MS,
    auth: { superDigest: undefined, digestEnabled: true, skipAcl: false },
    hashKey: keyOf(secrets.next()),
    isReconfigEnabled: options.ensemble?.members !== undefined && options.takesMembersFromFiles !== true,
    ...(options.levels === undefined ? {} : { levels: options.levels }),
    isTtlEnabled: true,
    trustedProxies: PROXIES,
    reaping: { checkIntervalMs: 2 * tickMs, perMinuteMax: 10_000, neverUsedMsMax: 0 },
    ensemble: options.standalone === true ? undefined : ensembleOf(options, secrets),
  };
}

function ensembleOf(options: ServerOptions, secrets: Prng): MemberConfig {
  return {
    isObserver: options.isObserver,
    electionAlg: options.electionAlg ?? 3,
    initLimit: INIT_LIMIT,
    syncLimit: SYNC_LIMIT,
    foundingWaitMs: FOUNDING_WAIT_MS,
    newEnsembleId: `ensemble-${secrets.next()}`,
    ...(options.counterMax === undefined ? {} : { counterMax: options.counterMax }),
    ...(options.windowBytes === undefined ? {} : { windowBytes: options.windowBytes }),
    ...(options.runBytes === undefined ? {} : { runBytes: options.runBytes }),
    ...options.ensemble,
  };
}

export function replicaToolsOf(secrets: Prng, batchBytesMax?: number): ReplicaTools {
  return {
    requests: new RequestReader(),
    batcher: new TxnBatchEncoder(1024, batchBytesMax),
    txns: new TxnReader(),
    entries: new TxnReader(),
    hashes: { digest: sha1, sha256 },
    random: () => secrets.next() / 2 ** 32,
  };
}

function sha1(bytes: Uint8Array): Uint8Array {
  return createHash("sha1").update(bytes).digest();
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

function keyOf(word: number): HashKey {
  return { k0: word, k1: ~word };
}
