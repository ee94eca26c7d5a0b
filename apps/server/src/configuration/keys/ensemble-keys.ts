import { countValue, oneOf, pathValue, portValue, type Read, read, trueOrFalseValue } from "../key-values.ts";
import {
  ignored,
  type KeyEntry,
  type KeyRule,
  limit,
  NOT_YET,
  ONE_LOOP,
  ofEnsemble,
  option,
  refused,
} from "./key-rule.ts";
import { NO_OCSP } from "./tls-keys.ts";

/** The file that lists the servers, where zoo.cfg does not. */
export const DYNAMIC_FILE = "dynamicConfigFile";

const NOT_YET_PEER_AUTH =
  "asks for SASL between servers, which is not supported; zooid.peerSecretFile names a secret by which they know each other";

const NEVER_BLOCKED = "nothing waits for a socket";

/**
 * Relations between the servers of an ensemble. The keys that list the servers are in
 * `ensemble-draft.ts`.
 */
export const ENSEMBLE_KEYS: readonly KeyEntry[] = [
  ["initLimit", limit("initLimit", countValue)],
  ["syncLimit", limit("syncLimit", countValue)],
  ["electionAlg", limit("electionAlg", electionAlgValue)],
  ["peerType", limit("isObserver", isObserverValue)],
  ["leaderServes", option("leaderServes", yesOrNoValue)],
  ["cnxTimeout", limit("connectTimeoutMs", connectTimeoutValue)],
  ["quorumListenOnAllIPs", limit("listenOnAllAddresses", trueOrFalseValue)],
  ["electionPortBindRetry", limit("bindRetryCount", countValue)],
  ["connectToLearnerMasterLimit", ignored("connecting to the leader is part of initLimit")],
  ["quorumCnxnTimeoutMs", ignored("a connection between servers is given up after three silent ticks")],
  ["syncEnabled", ignored("an observer always keeps what it learned", "true")],
  ["multiAddress.enabled", ignored("of several addresses of a server the first is used")],
  ["multiAddress.reachabilityCheckEnabled", ignored("of several addresses of a server the first is used")],
  ["multiAddress.reachabilityCheckTimeoutMs", ignored("of several addresses of a server the first is used")],
  ["maxTimeToWaitForEpoch", ignored(NOT_YET)],
  ["quorum.cnxn.threads.size", ignored(ONE_LOOP)],
  ["learner.asyncSending", ignored(NEVER_BLOCKED)],
  ["learner.closeSocketAsync", ignored(NEVER_BLOCKED)],
  ["observer.reconnectDelayMs", ignored(NOT_YET)],
  ["observer.election.DelayMs", ignored(NOT_YET)],
  ["tcpKeepAlive", ignored("connections between servers always have it")],
  ["reconfigEnabled", option("reconfigEnabled", trueOrFalseValue)],
  // Its lines stand where the setting stood, see parseConfigFile: if it is still here, it was not
  // read.
  [DYNAMIC_FILE, refused("is read where a configuration file names it, not supported elsewhere")],
  ["observerMasterPort", observerMasterPort()],
  [
    "oraclePath",
    refused("asks for an oracle to stand in for a quorum, which can make two leaders; it is not supported"),
  ],

  ["zooid.foundingWaitMs", limit("foundingWaitMs", countValue)],
  ["zooid.unlisted", limit("unlisted", oneOf(["follow", "refuse"]))],
  ["zooid.clients", limit("clients", oneOf(["open", "closed"]))],
  ["zooid.peerSecretFile", limit("peerSecretFile", pathValue)],
  ["zooid.peerSecretMode", limit("peerSecretMode", oneOf(["require", "offer"], true))],
  ["zooid.peerTls.key", peerTls("key")],
  ["zooid.peerTls.cert", peerTls("cert")],
  ["zooid.peerTls.ca", peerTls("ca")],
  ["zooid.allowUnauthenticatedPeers", limit("allowUnauthenticatedPeers", trueOrFalseValue)],
  ["sslQuorum", limit("sslQuorum", trueOrFalseValue)],
  ["sslQuorumReloadCertFiles", limit("reloadPeerStores", trueOrFalseValue)],
  ["portUnification", limit("portUnification", trueOrFalseValue)],
  ["ssl.quorum.hostnameVerification", limit("hostnameVerification", trueOrFalseValue)],
  ["ssl.quorum.clientHostnameVerification", limit("clientHostnameVerification", trueOrFalseValue)],
  ["ssl.quorum.clientAuth", refused("servers always ask each other for certificates", "need")],
  ["ssl.quorum.ocsp", refused(`${NO_OCSP} ssl.quorum.crl=true with zooid.ssl.quorum.crlFile=FILE`, "false")],
  ["ssl.quorum.allowReverseDnsLookup", ignored("no name is looked up for an address")],
  ["ssl.quorum.handshakeDetectionTimeoutMillis", ignored("a handshake is part of cnxTimeout")],
  ["ssl.quorum.context.supplier.class", refused("names a class of Java's, which is not supported")],
];

/** As {@link ENSEMBLE_KEYS}, of keys that begin so. */
export const ENSEMBLE_FAMILIES: readonly KeyEntry[] = [
  ["quorum.auth.", refused(NOT_YET_PEER_AUTH, "false")],
  ["leader.", ignored(NOT_YET)],
];

/** Like Apache's server, 0 switches it off. */
function observerMasterPort(): KeyRule {
  return ofEnsemble(observerPortValue, (limits, port) => {
    if (port > 0) limits.observerMasterPort = port;
    else delete limits.observerMasterPort;
  });
}

function observerPortValue(value: string): Read<number> {
  const found = portValue(value);
  return "problem" in found ? { problem: `is a port, 0 to 65535, where 0 is none, found "${value}"` } : found;
}

function isObserverValue(value: string): Read<boolean> {
  const lower = value.toLowerCase();
  const isType = lower === "participant" || lower === "observer";
  return read(isType ? lower === "observer" : undefined, `is participant or observer, found "${value}"`);
}

function peerTls(name: "key" | "cert" | "ca"): KeyRule {
  return ofEnsemble(pathValue, (limits, file) => {
    limits.peerTls = { ...limits.peerTls, [name]: file };
  });
}

/**
 * Seconds by ZooKeeper's documentation, milliseconds by its code: a value that makes sense as one
 * makes none as the other.
 */
const SECONDS_MAX = 100;
const CONNECT_MS_MAX = 2 ** 31 - 1;

function connectTimeoutValue(value: string): Read<number> {
  if (!/^\+?\d+$/.test(value) || Number(value) === 0) {
    return {
      problem: `is a whole number from 1 to ${CONNECT_MS_MAX}, of seconds below ${SECONDS_MAX} and of milliseconds from there, found "${value}"`,
    };
  }
  return { value: Number(value) < SECONDS_MAX ? Number(value) * 1000 : Number(value) };
}

function electionAlgValue(value: string): Read<number> {
  if (value === "1" || value === "2") {
    return {
      problem: `${value} is the fast election over UDP, which ZooKeeper itself no longer has; use 3 (the default) or 0`,
    };
  }
  return read(value === "3" || value === "0" ? Number(value) : undefined, `is 3 (the default) or 0, found "${value}"`);
}

function yesOrNoValue(value: string): Read<boolean> {
  const lower = value.toLowerCase();
  return read(lower === "yes" || lower === "no" ? lower === "yes" : undefined, `is yes or no, found "${value}"`);
}
