import { type Acl, formatSessionId, type Identity, Permission } from "@zooid/model";
import type { AuditRecord } from "@zooid/server";
import { printable } from "./logger.ts";

/** What the process itself did. */
export type ProcessEvent = "serverStart" | "serverStop";

const LOGGER = "audit.Slf4jAuditLogger";
/** In the order in which Apache ZooKeeper writes them. */
const PERMISSIONS: readonly (readonly [bit: number, letter: string])[] = [
  [Permission.CREATE, "c"],
  [Permission.DELETE, "d"],
  [Permission.READ, "r"],
  [Permission.WRITE, "w"],
  [Permission.ADMIN, "a"],
];

/**
 * One write as a line of Apache ZooKeeper's audit log: fields that are `key=value`, apart by tabs; what there is not is left out.
 *
 * @param processUser in whose name the server itself acts
 */
export function auditLine(record: AuditRecord, processUser: string, time: Date): string {
  const { session, identities, address, operation, path, createMode, acl, result } = record;
  return line(time, result, [
    ["session", formatSessionId(session)],
    ["user", identities === undefined ? processUser : usersOf(identities)],
    ["ip", address],
    ["operation", operation],
    ["znode", path],
    ["znode_type", createMode],
    ["acl", acl === undefined ? undefined : aclText(acl)],
    ["result", result],
  ]);
}

/** What the process did, as a line of the same log. */
export function processLine(operation: ProcessEvent, processUser: string, time: Date): string {
  const result = operation === "serverStart" ? "success" : "invoked";
  return line(time, result, [
    ["user", processUser],
    ["operation", operation],
    ["result", result],
  ]);
}

function line(
  time: Date,
  result: AuditRecord["result"] | "invoked",
  fields: readonly (readonly [key: string, value: string | undefined])[],
): string {
  const known = fields.filter(([, value]) => value !== undefined && value !== "");
  // Whatever strangers chose stays in its own field, on its own line.
  const text = known.map(([key, value]) => `${key}=${printable(value ?? "")}`).join("\t");
  return `${timeText(time)} ${result === "failure" ? "ERROR" : "INFO"} ${LOGGER}: ${text}\n`;
}

/** As Java's logging writes it: local time, with a comma before the milliseconds. */
function timeText(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().replace("T", " ").replace(".", ",").replace("Z", "");
}

function usersOf(identities: readonly Identity[]): string {
  return identities
    .map(userOf)
    .filter((user) => user !== "")
    .join(",");
}

/** Of a digest, what stands before the hash. */
function userOf({ scheme, id }: Identity): string {
  return scheme === "digest" ? id.replace(/:.*$/s, "") : id;
}

/** One entry behind the other without anything between them, as Apache has it; but hashes of passwords stay where they are. */
function aclText(acl: Acl): string {
  return acl.map((entry) => `${entry.scheme}:${maskedId(entry)}:${lettersOf(entry.perms)}`).join("");
}

function maskedId({ scheme, id }: Acl[number]): string {
  return scheme === "digest" ? id.replace(/:.*$/s, ":x") : id;
}

function lettersOf(perms: number): string {
  return PERMISSIONS.map(([bit, letter]) => ((perms & bit) === 0 ? "" : letter)).join("");
}
