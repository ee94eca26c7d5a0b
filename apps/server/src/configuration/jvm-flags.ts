import { distance } from "fastest-levenshtein";
import { MISSPELT } from "./config-file.ts";
import type { Setting } from "./keys/key-rule.ts";
import { isGuardingKey } from "./keys/known-keys.ts";
import { WHAT_GUARDS_DECIDE } from "./misspelt-keys.ts";

/** Flags for Java's command line, by the variable of the environment that has them. */
export type JvmFlags = Readonly<Record<string, string>>;

/**
 * The variables whose flags a server of ZooKeeper has: Java reads the first two, ZooKeeper's start
 * script the last two. The later one wins. Confluent's image has one more.
 */
const READ = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "SERVER_JVMFLAGS", "JVMFLAGS"];
const READ_IN_CONTAINERS = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "KAFKA_OPTS", "SERVER_JVMFLAGS", "JVMFLAGS"];
/** They are for ZooKeeper alone: whatever else they hold is worth a warning. */
const OF_SERVERS = new Set(["SERVER_JVMFLAGS", "JVMFLAGS"]);

/** The flags of an environment, those of empty variables left out. */
export function jvmFlagsOf(
  environment: Readonly<Record<string, string | undefined>>,
  place: "host" | "container" = "host",
): JvmFlags {
  const names = place === "container" ? READ_IN_CONTAINERS : READ;
  return Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}

/**
 * Letters in which a misspelt name of a variable, or the prefix of a flag, differs from the right
 * one.
 */
const STEPS_MAX = 2;

/** Variables with settings of ZooKeeper whose names are nearly those that are read. */
export function misspeltVariables(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(environment).flatMap(([name, text = ""]) => {
    if (READ_IN_CONTAINERS.includes(name) || jvmSettings({ [name]: text }).length === 0) return [];
    const nearest = READ.find((known) => distance(name.toUpperCase(), known) <= STEPS_MAX);
    return nearest === undefined
      ? []
      : [`${name} has flags of ZooKeeper and is not read; ${nearest} is: correct the name, or remove the variable`];
  });
}

/** Java's properties that ZooKeeper reads by their own names. */
const OWN_NAMES = /^(?:jute\.maxbuffer|readonlymode\.enabled|znode\.container\.\w+|fsync\.warningthresholdms)$/;
const JAAS = "java.security.auth.login.config";
/** One word; blanks inside quotes belong to it. */
const WORD = /(?:"[^"]*"|'[^']*'|[^\s"'])+/g;

/**
 * The settings among them: `-Dzookeeper.NAME=VALUE`. As on Java's command line, the later variable
 * wins.
 */
export function jvmSettings(flags: JvmFlags): readonly Setting[] {
  return Object.entries(flags).flatMap(([where, text]) =>
    wordsOf(text).flatMap((word): readonly Setting[] => {
      const { name, value } = propertyOf(word);
      if (name === undefined || !isSetting(name)) return [];
      return [{ key: name === JAAS ? "jaasLoginConfig" : name, value, where }];
    }),
  );
}

/**
 * Whatever else they hold is Java's: the beginnings of those words, without values, which may be
 * secrets.
 */
export function jvmRest(name: string, text: string): readonly string[] {
  return OF_SERVERS.has(name) ? restOf(text) : [];
}

function restOf(text: string): readonly string[] {
  const rest = wordsOf(text).filter((word) => {
    const { name } = propertyOf(word);
    return name === undefined || !isSetting(name);
  });
  return [...new Set(rest.map((word) => /^[^=:]*/.exec(word)?.[0] ?? ""))];
}

/**
 * Properties that are nearly settings which decide about votes, access, addresses or durability:
 * without their prefix, or with another.
 */
export function misspeltFlags(flags: JvmFlags): readonly string[] {
  return Object.entries(flags).flatMap(([where, text]) =>
    restOf(text).flatMap((flag) => {
      const guarded = flag.startsWith("-D") ? guardedBy(flag.slice("-D".length)) : undefined;
      return guarded === undefined
        ? []
        : [`${where} has ${flag}, which is not read; zookeeper.${guarded} is, and ${WHAT_GUARDS_DECIDE}: correct it`];
    }),
  );
}

function guardedBy(name: string): string | undefined {
  const [, head = "", rest = ""] = /^([a-z]+)[._-](.+)$/i.exec(name) ?? [];
  const isPrefixed = distance(head.toLowerCase(), "zookeeper") <= STEPS_MAX;
  const key = isPrefixed ? rest : name;
  if (isGuardingKey(key)) return key;
  // Names of Java's are many, and end like settings.
  return isPrefixed ? MISSPELT.find(key, "").guarded : MISSPELT.findInFamily(key).guarded;
}

function isSetting(name: string): boolean {
  return name.startsWith("zookeeper.") || name === JAAS || OWN_NAMES.test(name);
}

function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(WORD)].map(([word]) => word.replace(/["']/g, ""));
}

/** Without an equals sign the property is there, and empty. */
function propertyOf(word: string): { readonly name: string | undefined; readonly value: string } {
  const [, name, value = ""] = /^-D([^=]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
  return { name, value };
}
