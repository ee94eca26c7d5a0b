import type { Setting } from "./key-rule.ts";

/** Java's properties that ZooKeeper reads by their own names. */
const OWN_NAMES = /^(?:jute\.maxbuffer|readonlymode\.enabled|znode\.container\.\w+|fsync\.warningthresholdms)$/;
const JAAS = "java.security.auth.login.config";
/** One word; blanks inside quotes belong to it. */
const WORD = /(?:"[^"]*"|'[^']*'|[^\s"'])+/g;

/** The settings among the flags for Java's command line: `-Dzookeeper.NAME=VALUE`. Whatever else they hold is Java's. */
export function jvmSettings(flags: string): readonly Setting[] {
  const settings: Setting[] = [];
  for (const [word] of flags.matchAll(WORD)) {
    const [, name = "", value = ""] = /^-D([^=]+)=([\s\S]*)$/.exec(word.replace(/["']/g, "")) ?? [];
    const key = name === JAAS ? "jaasLoginConfig" : name;
    if (name.startsWith("zookeeper.") || name === JAAS || OWN_NAMES.test(name)) {
      settings.push({ key, value, where: "SERVER_JVMFLAGS" });
    }
  }
  return settings;
}
