import { readFileSync } from "node:fs";
import { CliError } from "../cli-error.ts";
import { parseProperties } from "./java-properties.ts";

/** A setting with its name in ZooKeeper's Java client. */
export interface JavaSetting {
  readonly key: string;
  readonly value: string;
  /** Its source, for messages. */
  readonly where: string;
}

interface SettingSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly file: string | undefined;
  /** Words of the command line, `-DNAME=VALUE` each. */
  readonly properties: readonly string[];
}

/** Java's own properties, and those that ZooKeeper reads without its prefix. */
const OTHER_NAMES: ReadonlySet<string> = new Set(["jute.maxbuffer", "java.security.auth.login.config"]);

/** The environment variables with Java flags in Apache's scripts. */
const FLAG_VARIABLES = ["CLIENT_JVMFLAGS", "JVMFLAGS"] as const;

/**
 * The settings of all sources, the last one wins: the environment, then a file, then the command
 * line.
 *
 * @throws CliError when the file cannot be read
 */
export function readJavaSettings({ environment, file, properties }: SettingSources): readonly JavaSetting[] {
  const flags = FLAG_VARIABLES.flatMap((where) => fromFlags((environment[where] ?? "").split(/\s+/), where));
  // Other words in the variables are Java options.
  const ours = flags.filter(({ key }) => key.startsWith("zookeeper.") || OTHER_NAMES.has(key));
  return [...ours, ...(file === undefined ? [] : fromFile(file)), ...fromFlags(properties, "the command line")];
}

function fromFlags(words: readonly string[], where: string): readonly JavaSetting[] {
  return words.flatMap((word) => {
    const [, key, value = "true"] = /^-D([^=]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
    return key === undefined ? [] : [{ key, value, where }];
  });
}

function fromFile(file: string): readonly JavaSetting[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`cannot read the client configuration ${file}: ${reason}`, { code: "UNREADABLE_FILE" });
  }
  return [...parseProperties(text)].map(([key, value]) => ({ key, value, where: file }));
}
