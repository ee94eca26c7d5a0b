import { adminUrlFault, withoutCredentials } from "@zooid/model";
import { type Read, trueOrFalseValue } from "../key-values.ts";
import { consoleSetting, type KeyEntry } from "./key-rule.ts";

/** The console on the admin port, and its users. */
export const CONSOLE_KEYS: readonly KeyEntry[] = [
  ["zooid.console.enabled", consoleSetting("isEnabled", trueOrFalseValue)],
  ["zooid.console.viewers", consoleSetting("viewers", identitiesValue)],
  ["zooid.console.editors", consoleSetting("editors", identitiesValue)],
  ["zooid.console.operators", consoleSetting("operators", identitiesValue)],
  ["zooid.console.hostNames", consoleSetting("hostNames", hostNamesValue)],
  ["zooid.console.adminPorts", consoleSetting("adminUrls", adminUrlsValue)],
];

const IDENTITY = /^(digest:[^:;]+:[\w+/=]+|x509:.+)$/;

const ADMIN_PORT = /^(\d{1,3})=(https?:\/\/[^\s,]+)$/;

/** The subjects of certificates have commas: identities are separated by semicolons. */
function identitiesValue(value: string): Read<readonly string[]> {
  const ids = listOf(value, ";");
  const wrong = ids.findIndex((id) => !IDENTITY.test(id));
  // What was meant for a hash may be a password.
  const problem = `is a list of digest:USER:HASH and x509:SUBJECT, separated by semicolons, found another entry at place ${wrong + 1}`;
  return wrong === -1 ? { value: ids } : { problem };
}

function hostNamesValue(value: string): Read<readonly string[]> {
  return { value: listOf(value.toLowerCase(), ",") };
}

/**
 * The admin ports of the other members, by their numbers: requests go to these and nowhere else.
 */
function adminUrlsValue(value: string): Read<Readonly<Record<string, string>>> {
  const pairs = listOf(value, ",").map((text) => ADMIN_PORT.exec(text));
  if (pairs.some((pair) => pair === null)) {
    return { problem: `is a list like 1=http://zk1:8080,2=http://zk2:8080, found "${withoutCredentials(value)}"` };
  }
  const fault = pairs.map((pair) => adminUrlFault(pair?.[2] ?? "")).find((each) => each !== undefined);
  if (fault !== undefined) return { problem: `is a list of URLs: ${fault}` };
  return { value: Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", pair?.[2] ?? ""])) };
}

function listOf(value: string, separator: string): readonly string[] {
  return value
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
