import { adminUrlFault, withoutCredentials } from "@zooid/model";
import { trueOrFalse } from "../key-values.ts";
import type { ConsoleSettings, KeyEntry, KeyRule } from "./key-rule.ts";

/** The console on the admin port, and its users. */
export const CONSOLE_KEYS: readonly KeyEntry[] = [
  ["zooid.console.enabled", enabled()],
  ["zooid.console.viewers", identities("viewers")],
  ["zooid.console.editors", identities("editors")],
  ["zooid.console.operators", identities("operators")],
  ["zooid.console.hostNames", hostNames()],
  ["zooid.console.adminPorts", adminPorts()],
];

const IDENTITY = /^(digest:[^:;]+:[\w+/=]+|x509:.+)$/;

const ADMIN_PORT = /^(\d{1,3})=(https?:\/\/[^\s,]+)$/;

function enabled(): KeyRule {
  return {
    kind: "console",
    set: (settings, value) => {
      const isOn = trueOrFalse(value);
      if (isOn === undefined) return `is true or false, found "${value}"`;
      settings.isEnabled = isOn;
      return undefined;
    },
  };
}

/** The subjects of certificates have commas: identities are separated by semicolons. */
function identities(role: keyof Pick<ConsoleSettings, "viewers" | "editors" | "operators">): KeyRule {
  return {
    kind: "console",
    set: (settings, value) => {
      const ids = listOf(value, ";");
      const wrong = ids.findIndex((id) => !IDENTITY.test(id));
      // What was meant for a hash may be a password.
      if (wrong !== -1) {
        return `is a list of digest:USER:HASH and x509:SUBJECT, separated by semicolons, found another entry at place ${wrong + 1}`;
      }
      settings[role] = ids;
      return undefined;
    },
  };
}

function hostNames(): KeyRule {
  return {
    kind: "console",
    set: (settings, value) => {
      settings.hostNames = listOf(value.toLowerCase(), ",");
      return undefined;
    },
  };
}

/**
 * The admin ports of the other members, by their numbers: requests go to these and nowhere else.
 */
function adminPorts(): KeyRule {
  return {
    kind: "console",
    set: (settings, value) => {
      const pairs = listOf(value, ",").map((text) => ADMIN_PORT.exec(text));
      if (pairs.some((pair) => pair === null)) {
        return `is a list like 1=http://zk1:8080,2=http://zk2:8080, found "${withoutCredentials(value)}"`;
      }
      const fault = pairs.map((pair) => adminUrlFault(pair?.[2] ?? "")).find((each) => each !== undefined);
      if (fault !== undefined) return `is a list of URLs: ${fault}`;
      settings.adminUrls = Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", pair?.[2] ?? ""]));
      return undefined;
    },
  };
}

function listOf(value: string, separator: string): readonly string[] {
  return value
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
