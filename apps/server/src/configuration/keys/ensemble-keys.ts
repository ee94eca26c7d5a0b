import { pathValue, portValue, trueOrFalse } from "../key-values.ts";
import { flag, ignored, type KeyEntry, type KeyRule, NOT_YET, ONE_LOOP, refused, set } from "./key-rule.ts";
import { NO_OCSP } from "./tls-keys.ts";

/** The file that lists the servers, where zoo.cfg does not. */
export const DYNAMIC_FILE = "dynamicConfigFile";

const NOT_YET_PEER_AUTH =
  "asks for SASL between servers, which is not supported; zooid.peerSecretFile names a secret by which they know each other";

const NEVER_BLOCKED = "nothing waits for a socket";

/**
 * What servers of an ensemble are to each other; which ones there are stands in the keys of
 * `ensemble-draft.ts`.
 */
export const ENSEMBLE_KEYS: readonly KeyEntry[] = [
  ["initLimit", ensembleNumber("initLimit")],
  ["syncLimit", ensembleNumber("syncLimit")],
  ["electionAlg", electionAlg()],
  ["peerType", peerType()],
  ["leaderServes", leaderServes()],
  ["cnxTimeout", connectTimeout()],
  ["quorumListenOnAllIPs", ensembleFlag("listenOnAllAddresses")],
  ["electionPortBindRetry", ensembleNumber("bindRetryCount")],
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
  ["reconfigEnabled", flag("reconfigEnabled")],
  // Its lines stand where the setting stood, see parseConfigFile: if it is still here, it was not
  // read.
  [DYNAMIC_FILE, refused("is read where a configuration file names it, not supported elsewhere")],
  ["observerMasterPort", observerMasterPort()],
  [
    "oraclePath",
    refused("asks for an oracle to stand in for a quorum, which can make two leaders; it is not supported"),
  ],

  ["zooid.foundingWaitMs", ensembleNumber("foundingWaitMs")],
  ["zooid.unlisted", unlistedServers()],
  ["zooid.peerSecretFile", peerSecretFile()],
  ["zooid.peerSecretMode", peerSecretMode()],
  ["zooid.peerTls.key", peerTls("key")],
  ["zooid.peerTls.cert", peerTls("cert")],
  ["zooid.peerTls.ca", peerTls("ca")],
  ["zooid.allowUnauthenticatedPeers", ensembleFlag("allowUnauthenticatedPeers")],
  ["sslQuorum", ensembleFlag("sslQuorum")],
  ["sslQuorumReloadCertFiles", ensembleFlag("reloadPeerStores")],
  ["portUnification", ensembleFlag("portUnification")],
  ["ssl.quorum.hostnameVerification", ensembleFlag("hostnameVerification")],
  ["ssl.quorum.clientHostnameVerification", ensembleFlag("clientHostnameVerification")],
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

function ensembleNumber(name: "initLimit" | "syncLimit" | "bindRetryCount" | "foundingWaitMs"): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      if (!/^\+?\d+$/.test(value)) return `is a whole number, found "${value}"`;
      limits[name] = Number(value);
      return undefined;
    },
  };
}

/** Like Apache's server, 0 switches it off. */
function observerMasterPort(): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      const found = portValue(value);
      if ("problem" in found) return `is a port, or 0 for none, found "${value}"`;
      if (found.value > 0) limits.observerMasterPort = found.value;
      else delete limits.observerMasterPort;
      return undefined;
    },
  };
}

function unlistedServers(): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      if (value !== "follow" && value !== "refuse") return `is follow or refuse, found "${value}"`;
      limits.unlisted = value;
      return undefined;
    },
  };
}

type EnsembleFlag =
  | "listenOnAllAddresses"
  | "allowUnauthenticatedPeers"
  | "sslQuorum"
  | "portUnification"
  | "reloadPeerStores"
  | "hostnameVerification"
  | "clientHostnameVerification";

function ensembleFlag(name: EnsembleFlag): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      const isOn = trueOrFalse(value);
      if (isOn === undefined) return `is true or false, found "${value}"`;
      limits[name] = isOn;
      return undefined;
    },
  };
}

function peerType(): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      const lower = value.toLowerCase();
      if (lower !== "participant" && lower !== "observer") return `is participant or observer, found "${value}"`;
      limits.isObserver = lower === "observer";
      return undefined;
    },
  };
}

function peerSecretFile(): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      const found = pathValue(value);
      if ("problem" in found) return found.problem;
      limits.peerSecretFile = found.value;
      return undefined;
    },
  };
}

function peerSecretMode(): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      if (value !== "require" && value !== "offer") return `is require (the default) or offer, found "${value}"`;
      limits.peerSecretMode = value;
      return undefined;
    },
  };
}

function peerTls(name: "key" | "cert" | "ca"): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      const found = pathValue(value);
      if ("problem" in found) return found.problem;
      limits.peerTls = { ...limits.peerTls, [name]: found.value };
      return undefined;
    },
  };
}

/**
 * Seconds by ZooKeeper's documentation, milliseconds by its code: a value that makes sense as one
 * makes none as the other.
 */
const SECONDS_MAX = 100;

function connectTimeout(): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      if (!/^\+?\d+$/.test(value) || Number(value) === 0) {
        return `is a number of seconds below ${SECONDS_MAX} or of milliseconds from there, found "${value}"`;
      }
      limits.connectTimeoutMs = Number(value) < SECONDS_MAX ? Number(value) * 1000 : Number(value);
      return undefined;
    },
  };
}

function electionAlg(): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      if (value === "1" || value === "2") {
        return `${value} is the fast election over UDP, which ZooKeeper itself no longer has; use 3 (the default) or 0`;
      }
      if (value !== "3" && value !== "0") return `is 3 (the default) or 0, found "${value}"`;
      limits.electionAlg = Number(value);
      return undefined;
    },
  };
}

function leaderServes(): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const lower = value.toLowerCase();
      if (lower !== "yes" && lower !== "no") return `is yes or no, found "${value}"`;
      return set(options, "leaderServes", lower === "yes");
    },
  };
}
