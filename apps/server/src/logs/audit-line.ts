import { type AuditRecord, auditUsers } from "@zooid/embedded-server";
import { type Acl, formatSessionId, Permission } from "@zooid/model";
import { printable } from "./logger.ts";

/** Acts of the process itself. */
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

/** As Java's logging writes it: local time, with a comma before the milliseconds. */
export function auditTime(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().replace("T", " ").replace(".", ",").replace("Z", "");
}

/**
 * One write as a line of Apache ZooKeeper's audit log: fields that are `key=value`, apart by tabs;
 * what there is not is left out.
 *
 * @param processUser in whose name the server itself acts
 * @param time see {@link auditTime}
 */
export function auditLine(record: AuditRecord, processUser: string, time: string): string {
  const { session, identities, address, operation, path, createMode, acl, result } = record;
  return line(time, result, [
    ["session", formatSessionId(session)],
    ["user", identities === undefined ? processUser : auditUsers(identities)],
    ["ip", address],
    ["operation", operation],
    ["znode", path],
    ["znode_type", createMode],
    ["acl", acl === undefined ? undefined : aclText(acl)],
    ["result", result],
  ]);
}

/** An act of the process, as a line of the same log. */
export function processLine(operation: ProcessEvent, processUser: string, time: string): string {
  const result = operation === "serverStart" ? "success" : "invoked";
  return line(time, result, [
    ["user", processUser],
    ["operation", operation],
    ["result", result],
  ]);
}

function line(
  time: string,
  result: AuditRecord["result"] | "invoked",
  fields: readonly (readonly [key: string, value: string | undefined])[],
): string {
  let text = `${time} ${result === "failure" ? "ERROR" : "INFO"} ${LOGGER}:`;
  let separator = " ";
  for (const [key, value] of fields) {
    if (value === undefined || value === "") continue;
    // Whatever strangers chose stays in its own field, on its own line.
    text += `${separator}${key}=${printable(value)}`;
    separator = "\t";
  }
  return `${text}\n`;
}

/**
 * One entry behind the other without anything between them, as Apache has it; but hashes of
 * passwords stay where they are.
 */
function aclText(acl: Acl): string {
  return acl.map((entry) => `${entry.scheme}:${maskedId(entry)}:${lettersOf(entry.perms)}`).join("");
}

function maskedId({ scheme, id }: Acl[number]): string {
  return scheme === "digest" ? id.replace(/:.*$/s, ":x") : id;
}

function lettersOf(perms: number): string {
  return PERMISSIONS.map(([bit, letter]) => ((perms & bit) === 0 ? "" : letter)).join("");
}
