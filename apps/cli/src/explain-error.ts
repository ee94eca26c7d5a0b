import { isZkError, type ZkErrorCode } from "@zooid/client";
import { MemberRuleError } from "@zooid/model/membership";
import { RecipeError } from "@zooid/recipes";
import { CliError, type CliErrorCode } from "./cli-error.ts";
import { ExitStatus } from "./exit-status.ts";
import { errorOfRule } from "./members/rule-error.ts";
import type { JsonObject } from "./output.ts";

/** An error of a command, for all output formats. */
export interface Explanation {
  /** zkCli's message where it has one. */
  readonly text: string;
  /** Ours, for JSON. */
  readonly plain: string;
  readonly hint: string | undefined;
  readonly code: string;
  readonly path: string | undefined;
  /** zkCli's exit status. */
  readonly plainStatus: ExitStatus;
  /** The exit status with `--json`. */
  readonly fineStatus: ExitStatus;
}

export function explainError(error: unknown): Explanation {
  if (error instanceof CliError) return explainOwn(error);
  if (error instanceof MemberRuleError) return explainOwn(errorOfRule(error));
  if (error instanceof RecipeError) {
    const { code, message } = error;
    return explainOwn({ code, path: undefined, message, plain: message, hint: undefined });
  }
  if (isZkError(error)) {
    const { reason } = error;
    // What the code alone does not say.
    const isExplained = (error.code === "HISTORY_GONE" || error.timeFault !== undefined) && reason !== undefined;
    const isTooLarge = error.code === "CONNECTION_LOSS" && error.outcome === "unknown" && reason !== undefined;
    return {
      text: `${refusalText(error.code, error.path)}${isTooLarge || isExplained ? ` (${reason})` : ""}`,
      plain: error.message,
      hint: isTooLarge ? HINT_TOO_LARGE : HINTS.get(error.code),
      code: error.code,
      path: error.path,
      plainStatus: ExitStatus.FAILED,
      fineStatus: fineStatus(error.code),
    };
  }
  const text = error instanceof Error ? error.message : String(error);
  return {
    text,
    plain: text,
    hint: undefined,
    code: "FAILED",
    path: undefined,
    plainStatus: ExitStatus.FAILED,
    fineStatus: ExitStatus.FAILED,
  };
}

export function errorJson({ plain, hint, code, path }: Explanation): JsonObject {
  return {
    error: {
      code,
      ...(path === undefined ? {} : { path }),
      message: plain,
      ...(hint === undefined ? {} : { hint }),
    },
  };
}

const HINT_TOO_LARGE = "store less in one node, or raise jute.maxbuffer at the servers";

/** Remedies of errors whose sentence has none. */
const HINTS: ReadonlyMap<CliErrorCode, string> = new Map<CliErrorCode, string>([
  ["NO_NODE", "list the parent with ls; the path is below the chroot of the connect string"],
  ["NODE_EXISTS", "write to it with set"],
  ["NOT_EMPTY", "delete the children too with deleteall"],
  ["BAD_VERSION", "another client has changed the node: read it again with get -s"],
  ["NO_CHILDREN_FOR_EPHEMERALS", "create the child below a persistent node"],
  ["NO_AUTH", "print the access list with getAcl, and authenticate with addauth"],
  ["AUTH_FAILED", "check scheme and credentials; the server's log has the reason"],
  ["SESSION_CLOSED_REQUIRE_SASL_AUTH", "authenticate: see java.security.auth.login.config in the README"],
  ["INVALID_ACL", "write it as scheme:id:permissions, for example world:anyone:cdrwa"],
  ["INVALID_PATH", "a path begins with a slash, ends without one, and has no empty, . or .. names"],
  ["QUOTA_EXCEEDED", "print the quota with listquota"],
  ["NOT_READ_ONLY", "the server has no quorum: retry, or name a server that has one with -server"],
  ["CONNECTION_LOSS", "check -server, and each server with status"],
  ["NOT_CONNECTED", "open a session with connect"],
  ["SESSION_EXPIRED", "start again; the session's ephemeral nodes are gone"],
  ["OPERATION_TIMEOUT", "check each server with status"],
  ["PACKET_TOO_LARGE", "raise jute.maxbuffer in the -client-configuration file, or list with ls --page"],
  ["UNIMPLEMENTED", "the server is too old for this command, or has it disabled"],
  ["RECONFIG_DISABLED", "set reconfigEnabled=true on the servers"],
  ["RECONFIG_IN_PROGRESS", "another change is under way: wait until config shows it, and try again"],
  ["NEW_CONFIG_NO_QUORUM", "start the servers of the new configuration first: print their state with member list"],
]);

function explainOwn(error: Pick<CliError, "code" | "path" | "message" | "plain" | "hint">): Explanation {
  const { code, path, message: text, plain, hint = HINTS.get(code) } = error;
  const plainStatus =
    PROGRAM_STATUS.get(code) ?? (code === "COMMAND_UNKNOWN" ? ExitStatus.COMMAND_UNKNOWN : ExitStatus.FAILED);
  return { text, plain, hint, code, path, plainStatus, fineStatus: fineStatus(code) };
}

/** zkCli's messages for refusals; it reports all others with the client's message. */
const SENTENCES: Readonly<Partial<Record<ZkErrorCode, string>>> = {
  NO_NODE: "Node does not exist: ",
  NODE_EXISTS: "Node already exists: ",
  NOT_EMPTY: "Node not empty: ",
  NO_CHILDREN_FOR_EPHEMERALS: "Ephemerals cannot have children: ",
  NOT_READ_ONLY: "Not a read-only call: ",
  INVALID_ACL: "Acl is not valid : ",
  NO_AUTH: "Insufficient permission : ",
  BAD_ARGUMENTS: "Arguments are not valid : ",
  BAD_VERSION: "version No is not valid : ",
  QUOTA_EXCEEDED: "Quota has exceeded : ",
};

/** The Java client's names of the codes that differ from the code's own name. */
const CLIENT_WORDS: Readonly<Partial<Record<ZkErrorCode, string>>> = {
  SYSTEM_ERROR: "SystemError",
  RUNTIME_INCONSISTENCY: "RuntimeInconsistency",
  DATA_INCONSISTENCY: "DataInconsistency",
  CONNECTION_LOSS: "ConnectionLoss",
  MARSHALLING_ERROR: "MarshallingError",
  UNIMPLEMENTED: "Unimplemented",
  OPERATION_TIMEOUT: "OperationTimeout",
  BAD_ARGUMENTS: "BadArguments",
  NEW_CONFIG_NO_QUORUM: "NewConfigNoQuorum",
  RECONFIG_IN_PROGRESS: "ReconfigInProgress",
  API_ERROR: "APIError",
  NO_NODE: "NoNode",
  NO_AUTH: "NoAuth",
  BAD_VERSION: "BadVersion",
  NO_CHILDREN_FOR_EPHEMERALS: "NoChildrenForEphemerals",
  NODE_EXISTS: "NodeExists",
  NOT_EMPTY: "Directory not empty",
  SESSION_EXPIRED: "Session expired",
  INVALID_CALLBACK: "Invalid callback",
  INVALID_ACL: "InvalidACL",
  AUTH_FAILED: "AuthFailed",
  SESSION_MOVED: "Session moved",
  NOT_READ_ONLY: "Not a read-only call",
  EPHEMERAL_ON_LOCAL_SESSION: "Ephemeral node on local session",
  NO_WATCHER: "No such watcher",
  REQUEST_TIMEOUT: "Unknown error REQUESTTIMEOUT",
  RECONFIG_DISABLED: "Reconfig is disabled",
  SESSION_CLOSED_REQUIRE_SASL_AUTH: "Session closed because client failed to authenticate",
  QUOTA_EXCEEDED: "Quota has exceeded",
  THROTTLED_OP: "Op throttled due to high load",
};

/** zkCli's words, its misspelling included. */
const NO_QUORUM_TEXT =
  "No quorum of new config is connected and up-to-date with the leader of last commmitted config - " +
  "try invoking reconfiguration after new servers are connected and synced";

/** zkCli's message for a refusal. */
export function refusalText(code: ZkErrorCode, path: string | undefined): string {
  if (code === "RECONFIG_IN_PROGRESS")
    return "Another reconfiguration is in progress -- concurrent reconfigs not supported (yet)";
  if (code === "NEW_CONFIG_NO_QUORUM") return NO_QUORUM_TEXT;
  const sentence = SENTENCES[code];
  if (sentence !== undefined) return `${sentence}${path ?? "null"}`;
  return clientText(code, path);
}

/** The Java client's message for a refusal. */
export function clientText(code: ZkErrorCode, path: string | undefined): string {
  return `KeeperErrorCode = ${CLIENT_WORDS[code] ?? code}${path === undefined || path === "" ? "" : ` for ${path}`}`;
}

function fineStatus(code: CliErrorCode): ExitStatus {
  return PROGRAM_STATUS.get(code) ?? FINE_STATUS.get(code) ?? ExitStatus.FAILED;
}

/** Errors of waits, and of programs that are run under a lock, with and without `--json`. */
const PROGRAM_STATUS: ReadonlyMap<CliErrorCode, ExitStatus> = new Map<CliErrorCode, ExitStatus>([
  ["LOCK_TIMEOUT", ExitStatus.TIMED_OUT],
  ["WAIT_TIMEOUT", ExitStatus.TIMED_OUT],
  ["LEASE_LOST", ExitStatus.LOST],
  ["PROGRAM_UNUSABLE", ExitStatus.PROGRAM_UNUSABLE],
  ["PROGRAM_MISSING", ExitStatus.PROGRAM_MISSING],
]);

const FINE_STATUS: ReadonlyMap<CliErrorCode, ExitStatus> = new Map<CliErrorCode, ExitStatus>([
  ["USAGE", ExitStatus.USAGE],
  ["COMMAND_UNKNOWN", ExitStatus.USAGE],
  ["INVALID_PATH", ExitStatus.USAGE],
  ["INVALID_ACL", ExitStatus.USAGE],
  ["BAD_ARGUMENTS", ExitStatus.USAGE],
  ["INVALID_FILE", ExitStatus.USAGE],
  ["UNREADABLE_FILE", ExitStatus.USAGE],
  ["UNWRITABLE_FILE", ExitStatus.USAGE],
  ["PACKET_TOO_LARGE", ExitStatus.USAGE],
  ["CONNECTION_LOSS", ExitStatus.CONNECTION],
  ["OPERATION_TIMEOUT", ExitStatus.CONNECTION],
  ["REQUEST_TIMEOUT", ExitStatus.CONNECTION],
  ["SESSION_EXPIRED", ExitStatus.CONNECTION],
  ["SESSION_MOVED", ExitStatus.CONNECTION],
  ["CLIENT_CLOSED", ExitStatus.CONNECTION],
  ["NOT_CONNECTED", ExitStatus.CONNECTION],
  ["NO_AUTH", ExitStatus.AUTH],
  ["AUTH_FAILED", ExitStatus.AUTH],
  ["SESSION_CLOSED_REQUIRE_SASL_AUTH", ExitStatus.AUTH],
  ["NODE_EXISTS", ExitStatus.CONFLICT],
  ["BAD_VERSION", ExitStatus.CONFLICT],
  ["NOT_EMPTY", ExitStatus.CONFLICT],
  ["NO_CHILDREN_FOR_EPHEMERALS", ExitStatus.CONFLICT],
  ["QUOTA_EXCEEDED", ExitStatus.CONFLICT],
  ["QUOTA_CONFLICT", ExitStatus.CONFLICT],
  ["MEMBER_EXISTS", ExitStatus.CONFLICT],
  ["RECONFIG_IN_PROGRESS", ExitStatus.CONFLICT],
]);
