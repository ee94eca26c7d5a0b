/**
 * The protocol's error table. A refusal is data: cores return these codes and throw nothing.
 * Codes that only clients produce are in it too, so that one table serves both sides.
 */
export const ErrorCode = {
  OK: 0,
  SYSTEM_ERROR: -1,
  RUNTIME_INCONSISTENCY: -2,
  DATA_INCONSISTENCY: -3,
  CONNECTION_LOSS: -4,
  MARSHALLING_ERROR: -5,
  UNIMPLEMENTED: -6,
  OPERATION_TIMEOUT: -7,
  BAD_ARGUMENTS: -8,
  UNKNOWN_SESSION: -12,
  NEW_CONFIG_NO_QUORUM: -13,
  RECONFIG_IN_PROGRESS: -14,
  API_ERROR: -100,
  NO_NODE: -101,
  NO_AUTH: -102,
  BAD_VERSION: -103,
  NO_CHILDREN_FOR_EPHEMERALS: -108,
  NODE_EXISTS: -110,
  NOT_EMPTY: -111,
  SESSION_EXPIRED: -112,
  INVALID_CALLBACK: -113,
  INVALID_ACL: -114,
  AUTH_FAILED: -115,
  SESSION_MOVED: -118,
  NOT_READ_ONLY: -119,
  EPHEMERAL_ON_LOCAL_SESSION: -120,
  NO_WATCHER: -121,
  REQUEST_TIMEOUT: -122,
  RECONFIG_DISABLED: -123,
  SESSION_CLOSED_REQUIRE_SASL_AUTH: -124,
  QUOTA_EXCEEDED: -125,
  THROTTLED_OP: -127,
  /** Zooid's own: the server's history does not reach the moment that was asked for. */
  HISTORY_GONE: -1001,
} as const;

export type ErrorName = keyof typeof ErrorCode;
export type ErrorCode = (typeof ErrorCode)[ErrorName];

const nameByCode = new Map<number, ErrorName>();
for (const name of Object.keys(ErrorCode) as ErrorName[]) nameByCode.set(ErrorCode[name], name);

/** `NO_NODE` for -101; `ERROR_<n>` for a code that the table does not know. */
export function errorName(code: number): ErrorName | `ERROR_${number}` {
  return nameByCode.get(code) ?? `ERROR_${code}`;
}
