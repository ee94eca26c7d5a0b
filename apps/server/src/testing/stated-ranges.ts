import { ConfigError, parseServerConfig, type ServerOptions } from "@zooid/embedded-server";
import { parseCommandLine } from "../configuration/command-line.ts";
import type { KeyRule } from "../configuration/keys/key-rule.ts";
import { KEY_RULES } from "../configuration/keys/known-keys.ts";
import { operated } from "../configuration/operated.ts";

/**
 * A key of zoo.cfg whose value is a number between two ends, as the server states them to an
 * operator who goes beyond.
 */
export interface StatedRange {
  readonly key: string;
  readonly least: string;
  readonly most: string;
}

/** Numbers that no key takes. */
const ABOVE = `1${"0".repeat(30)}`;
/** Keys of a server that follows an Apache ensemble and serves no clients. */
export const FOLLOWING: RegExp = /^zooid\.follow\./;
const STATED = /(?:from |port, )(-?[\d.]+) to (\d+)/;

/** Each key with a range, found by asking for too much of it. */
export function statedRanges(place: RangePlace): readonly StatedRange[] {
  return [...KEY_RULES].flatMap(([key, rule]) => {
    if (!takesNumbers(rule)) return [];
    const [problem = ""] = problemsOf(key, ABOVE, place);
    const [, least, most] = STATED.exec(problem) ?? [];
    if (least === undefined || most === undefined) return [{ key, least: "unstated", most: problem }];
    return [{ key, least, most }];
  });
}

function takesNumbers(rule: KeyRule): boolean {
  if (rule.kind !== "honoured" && rule.kind !== "ensemble") return false;
  const accepts = (value: string): boolean => rule.set({}, value, "") === undefined;
  return accepts("7") && accepts("8") && !accepts("x");
}

/** Directories and files that some keys need. */
export interface RangePlace {
  readonly dataDir: string;
  readonly backupDir: string;
  /** A key with its certificate. */
  readonly keyStore: string;
}

/** Settings without which a key has no effect, or contradicts another one. */
export function companions(key: string, { backupDir, keyStore }: RangePlace): readonly string[] {
  const history = "zooid.history.retainMs=1000000";
  const member = ["server.1=127.0.0.1:1:2", "standaloneEnabled=false"];
  if (FOLLOWING.test(key)) return ["zooid.follow=127.0.0.1:2888"];
  if (key === "zooid.history.retainMs") return [];
  if (key.startsWith("zooid.history.")) return [history];
  if (key.startsWith("zooid.backup.")) return [history, `zooid.backup.target=${backupDir}`];
  if (key === "minSessionTimeout") return ["maxSessionTimeout=2147483647"];
  if (key === "maxSessionTimeout") return ["minSessionTimeout=1"];
  if (key.startsWith("ssl.") || key.startsWith("netty.") || key === "secureClientPort") {
    return ["secureClientPort=0", `ssl.keyStore.location=${keyStore}`, "ssl.clientAuth=none"];
  }
  return KEY_RULES.get(key)?.kind === "ensemble" ? member : [];
}

/** The options of a server with one key at a value. @throws ConfigError with all problems */
export function optionsWith(key: string, value: string, place: RangePlace): ServerOptions {
  const settings = new Map<string, string>();
  const free = ["clientPort=0", "admin.serverPort=0", "clientPortAddress=127.0.0.1"];
  for (const setting of [...free, ...companions(key, place), `${key}=${value}`]) {
    const [name = ""] = setting.split("=", 1);
    settings.set(name, setting);
  }
  const words = [...settings.values()].flatMap((setting) => ["--set", setting]);
  const follows = FOLLOWING.test(key) ? ["follow"] : [];
  const command = parseCommandLine([...follows, "--data", place.dataDir, ...words]);
  if (command.kind !== "serve") throw new Error(`a server is started, not ${command.kind}`);
  const options = operated(command);
  parseServerConfig(options);
  return options;
}

/** The sentences by which a value is refused; none for a value that is taken. */
export function problemsOf(key: string, value: string, place: RangePlace): readonly string[] {
  try {
    optionsWith(key, value, place);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems;
  }
}
