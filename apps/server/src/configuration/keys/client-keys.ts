import type { ServerOptions } from "@zooid/embedded-server";
import { trueOrFalse } from "../key-values.ts";
import {
  flag,
  ignored,
  type KeyEntry,
  type KeyRule,
  listenAddress,
  type Mutable,
  ONE_LOOP,
  portNumber,
  set,
  wholeNumber,
} from "./key-rule.ts";

const BYTES_WAIT =
  "the bytes of requests under way are bounded already, and clients beyond it are left unread instead of closed";

const REQUESTS_WAIT =
  "a request that cannot be served yet waits unread with its client, in no queue that could grow old";

/** The port for clients, their sessions, and the limits on what they may ask. */
export const CLIENT_KEYS: readonly KeyEntry[] = [
  ["clientPort", portNumber("port")],
  ["clientPortAddress", listenAddress("address")],
  ["clientPortListenBacklog", backlog()],
  ["clientTcpKeepAlive", flag("tcpKeepAlive")],
  ["4lw.commands.whitelist", { kind: "honoured", set: (options, value) => set(options, "fourLetterWords", value) }],
  ["serverCnxnFactory", ignored(ONE_LOOP)],
  ["nio.numSelectorThreads", ignored(ONE_LOOP)],
  ["nio.numWorkerThreads", ignored(ONE_LOOP)],
  ["nioNumSelectorThreads", ignored(ONE_LOOP)],
  ["nioNumWorkerThreads", ignored(ONE_LOOP)],
  ["nio.directBufferBytes", ignored(ONE_LOOP)],
  ["nio.shutdownTimeout", ignored(ONE_LOOP)],
  ["commitProcessor.numWorkerThreads", ignored(ONE_LOOP)],

  ["tickTime", wholeNumber("tickMs")],
  ["minSessionTimeout", wholeNumber("sessionTimeoutMsMin")],
  ["maxSessionTimeout", wholeNumber("sessionTimeoutMsMax")],
  ["nio.sessionlessCnxnTimeout", wholeNumber("sessionlessTimeoutMs")],
  ["readonlymode.enabled", flag("readOnlyMode")],
  ["localSessionsEnabled", flag("localSessions")],
  ["localSessionsUpgradingEnabled", flag("localSessionsUpgrading")],

  ["maxClientCnxns", wholeNumber("connectionsPerAddressMax")],
  ["maxCnxns", wholeNumber("connectionsMax")],
  ["globalOutstandingLimit", wholeNumber("outstandingCountMax")],
  ["zooid.heldBytesMax", wholeNumber("heldBytesMax")],
  ["zooid.childrenBytesMax", wholeNumber("childrenBytesMax")],
  ["zooid.watchBytesMax", wholeNumber("watchBytesMax")],
  ["zooid.trustedProxies", trustedProxies()],
  ["zooid.trustedProxiesPercent", wholeNumber("trustedProxiesPercent")],
  ["jute.maxbuffer", juteMaxbuffer()],
  ["jute.maxbuffer.extrasize", ignored("a field is bounded by its frame")],
  ["advancedFlowControlEnabled", ignored(ONE_LOOP)],
  ["largeRequestMaxBytes", ignored(BYTES_WAIT)],
  ["largeRequestThreshold", ignored(BYTES_WAIT)],
  ["throttled_op_wait_time", ignored(REQUESTS_WAIT)],
  ["request_throttle_max_requests", wholeNumber("requestThrottleMax")],
  ["request_throttle_stall_time", ignored("waiting requests continue as soon as there is room, not in steps")],
  ["request_throttle_drop_stale", ignored(REQUESTS_WAIT)],
  ["request_stale_connection_check", ignored(REQUESTS_WAIT)],
  ["request_stale_latency_check", ignored(REQUESTS_WAIT)],
  ["connection_throttle_tokens", throttleNumber("tokens")],
  ["connection_throttle_fill_time", throttleNumber("fillMs")],
  ["connection_throttle_fill_count", throttleNumber("fillCount")],
  ["connection_throttle_freeze_time", throttleNumber("freezeMs")],
  ["connection_throttle_drop_increase", throttleNumber("dropIncrease")],
  ["connection_throttle_drop_decrease", throttleNumber("dropDecrease")],
  ["connection_throttle_decrease_ratio", throttleNumber("decreaseRatio")],
  ["connection_throttle_global_session_weight", throttleNumber("globalWeight")],
  ["connection_throttle_local_session_weight", throttleNumber("localWeight")],
  ["connection_throttle_renew_session_weight", throttleNumber("renewWeight")],
  ["connection_throttle_weight_enabled", throttleWeights()],
];

/** As {@link CLIENT_KEYS}, of keys that begin so. */
export const CLIENT_FAMILIES: readonly KeyEntry[] = [["netty.", ignored(ONE_LOOP)]];

/** The system takes a 32-bit number, and less of it. */
const LISTEN_BACKLOG_MAX = 2 ** 31 - 1;

function backlog(): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (!/^[+-]?\d+$/.test(value) || Number(value) > LISTEN_BACKLOG_MAX)
        return `is a whole number up to ${LISTEN_BACKLOG_MAX}, found "${value}"`;
      return Number(value) < 0 ? undefined : set(options, "listenBacklog", Number(value));
    },
  };
}

/** Java reads it with `Integer.getInteger`, so hexadecimal is in use too. */
function juteMaxbuffer(): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (!/^\+?(?:0x[0-9a-f]+|\d+)$/i.test(value)) return `is a number of bytes, found "${value}"`;
      return set(options, "frameBytesMax", Number(value.replace("+", "")));
    },
  };
}

type Throttle = Mutable<NonNullable<ServerOptions["connectionThrottle"]>>;

function throttleNumber(name: Exclude<keyof Throttle, "isWeighted">): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (!/^[+-]?\d+(?:\.\d+)?$/.test(value)) return `is a number, found "${value}"`;
      options.connectionThrottle = { ...options.connectionThrottle, [name]: Number(value) };
      return undefined;
    },
  };
}

function throttleWeights(): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const isWeighted = trueOrFalse(value);
      if (isWeighted === undefined) return `is true or false, found "${value}"`;
      options.connectionThrottle = { ...options.connectionThrottle, isWeighted };
      return undefined;
    },
  };
}

/** The server checks each of them. */
function trustedProxies(): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      options.trustedProxies = value.split(",").map((range) => range.trim());
      return undefined;
    },
  };
}
