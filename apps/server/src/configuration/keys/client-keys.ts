import {
  addressValue,
  anyValue,
  decimalValue,
  listValue,
  portValue,
  type Read,
  read,
  trueOrFalseValue,
  wholeValue,
} from "../key-values.ts";
import { honoured, ignored, type KeyEntry, type KeyRule, ONE_LOOP, option, part } from "./key-rule.ts";

const BYTES_WAIT =
  "the bytes of requests under way are bounded already, and clients beyond it are left unread instead of closed";

const REQUESTS_WAIT =
  "a request that cannot be served yet waits unread with its client, in no queue that could grow old";

/** The port for clients, their sessions, and the limits on what they may ask. */
export const CLIENT_KEYS: readonly KeyEntry[] = [
  ["clientPort", option("port", portValue)],
  ["clientPortAddress", option("address", addressValue)],
  ["clientPortListenBacklog", backlog()],
  ["clientTcpKeepAlive", option("tcpKeepAlive", trueOrFalseValue)],
  ["4lw.commands.whitelist", option("fourLetterWords", anyValue)],
  ["serverCnxnFactory", ignored(ONE_LOOP)],
  ["nio.numSelectorThreads", ignored(ONE_LOOP)],
  ["nio.numWorkerThreads", ignored(ONE_LOOP)],
  ["nioNumSelectorThreads", ignored(ONE_LOOP)],
  ["nioNumWorkerThreads", ignored(ONE_LOOP)],
  ["nio.directBufferBytes", ignored(ONE_LOOP)],
  ["nio.shutdownTimeout", ignored(ONE_LOOP)],
  ["commitProcessor.numWorkerThreads", ignored(ONE_LOOP)],

  ["tickTime", option("tickMs", wholeValue)],
  ["minSessionTimeout", option("sessionTimeoutMsMin", wholeValue)],
  ["maxSessionTimeout", option("sessionTimeoutMsMax", wholeValue)],
  ["nio.sessionlessCnxnTimeout", option("sessionlessTimeoutMs", wholeValue)],
  ["readonlymode.enabled", option("readOnlyMode", trueOrFalseValue)],
  ["localSessionsEnabled", option("localSessions", trueOrFalseValue)],
  ["localSessionsUpgradingEnabled", option("localSessionsUpgrading", trueOrFalseValue)],

  ["maxClientCnxns", option("connectionsPerAddressMax", wholeValue)],
  ["maxCnxns", option("connectionsMax", wholeValue)],
  ["globalOutstandingLimit", option("outstandingCountMax", wholeValue)],
  ["zooid.heldBytesMax", option("heldBytesMax", wholeValue)],
  ["zooid.multiPartsMax", option("multiPartsMax", wholeValue)],
  ["zooid.childrenBytesMax", option("childrenBytesMax", wholeValue)],
  ["zooid.watchBytesMax", option("watchBytesMax", wholeValue)],
  ["zooid.trustedProxies", option("trustedProxies", listValue)],
  ["zooid.trustedProxiesPercent", option("trustedProxiesPercent", wholeValue)],
  ["jute.maxbuffer", option("frameBytesMax", bufferValue)],
  ["jute.maxbuffer.extrasize", ignored("a field is bounded by its frame")],
  ["advancedFlowControlEnabled", ignored(ONE_LOOP)],
  ["largeRequestMaxBytes", ignored(BYTES_WAIT)],
  ["largeRequestThreshold", ignored(BYTES_WAIT)],
  ["throttled_op_wait_time", ignored(REQUESTS_WAIT)],
  ["request_throttle_max_requests", option("requestThrottleMax", wholeValue)],
  ["request_throttle_stall_time", ignored("waiting requests continue as soon as there is room, not in steps")],
  ["request_throttle_drop_stale", ignored(REQUESTS_WAIT)],
  ["request_stale_connection_check", ignored(REQUESTS_WAIT)],
  ["request_stale_latency_check", ignored(REQUESTS_WAIT)],
  ["connection_throttle_tokens", part("connectionThrottle", "tokens", decimalValue)],
  ["connection_throttle_fill_time", part("connectionThrottle", "fillMs", decimalValue)],
  ["connection_throttle_fill_count", part("connectionThrottle", "fillCount", decimalValue)],
  ["connection_throttle_freeze_time", part("connectionThrottle", "freezeMs", decimalValue)],
  ["connection_throttle_drop_increase", part("connectionThrottle", "dropIncrease", decimalValue)],
  ["connection_throttle_drop_decrease", part("connectionThrottle", "dropDecrease", decimalValue)],
  ["connection_throttle_decrease_ratio", part("connectionThrottle", "decreaseRatio", decimalValue)],
  ["connection_throttle_global_session_weight", part("connectionThrottle", "globalWeight", decimalValue)],
  ["connection_throttle_local_session_weight", part("connectionThrottle", "localWeight", decimalValue)],
  ["connection_throttle_renew_session_weight", part("connectionThrottle", "renewWeight", decimalValue)],
  ["connection_throttle_weight_enabled", part("connectionThrottle", "isWeighted", trueOrFalseValue)],
];

/** As {@link CLIENT_KEYS}, of keys that begin so. */
export const CLIENT_FAMILIES: readonly KeyEntry[] = [["netty.", ignored(ONE_LOOP)]];

/** The system takes a 32-bit number, and less of it. */
const LISTEN_BACKLOG_MAX = 2 ** 31 - 1;
const LISTEN_BACKLOG_MIN: number = -(2 ** 31);

/** A negative one leaves the system's. */
function backlog(): KeyRule {
  return honoured(backlogValue, (options, value) => {
    if (value >= 0) options.listenBacklog = value;
  });
}

function backlogValue(value: string): Read<number> {
  const isBacklog =
    /^[+-]?\d+$/.test(value) && Number(value) >= LISTEN_BACKLOG_MIN && Number(value) <= LISTEN_BACKLOG_MAX;
  return read(
    isBacklog ? Number(value) : undefined,
    `is a whole number from ${LISTEN_BACKLOG_MIN} to ${LISTEN_BACKLOG_MAX}, found "${value}"`,
  );
}

/** Java reads it with `Integer.getInteger`, so hexadecimal is in use too. */
function bufferValue(value: string): Read<number> {
  const isNumber = /^\+?(?:0x[0-9a-f]+|\d+)$/i.test(value);
  return read(isNumber ? Number(value.replace("+", "")) : undefined, `is a number of bytes, found "${value}"`);
}
