import type { Setting } from "./key-rule.ts";

/** Flags for Java's command line, by the variable of the environment that has them. */
export type JvmFlags = Readonly<Record<string, string>>;

/** Java's properties that ZooKeeper reads by their own names. */
const OWN_NAMES = /^(?:jute\.maxbuffer|readonlymode\.enabled|znode\.container\.\w+|fsync\.warningthresholdms)$/;
const JAAS = "java.security.auth.login.config";
/** One word; blanks inside quotes belong to it. */
const WORD = /(?:"[^"]*"|'[^']*'|[^\s"'])+/g;

/** The settings among them: `-Dzookeeper.NAME=VALUE`. As on Java's command line, the later variable wins. */
export function jvmSettings(flags: JvmFlags): readonly Setting[] {
  return Object.entries(flags).flatMap(([where, text]) =>
    wordsOf(text).flatMap((word): readonly Setting[] => {
      const { name, value } = propertyOf(word);
      if (name === undefined || !isSetting(name)) return [];
      return [{ key: name === JAAS ? "jaasLoginConfig" : name, value, where }];
    }),
  );
}

/** Whatever else they hold is Java's: the beginnings of those words, without values, which may be secrets. */
export function jvmRest(text: string): readonly string[] {
  const rest = wordsOf(text).filter((word) => {
    const { name } = propertyOf(word);
    return name === undefined || !isSetting(name);
  });
  return [...new Set(rest.map((word) => /^[^=:]*/.exec(word)?.[0] ?? ""))];
}

function isSetting(name: string): boolean {
  return name.startsWith("zookeeper.") || name === JAAS || OWN_NAMES.test(name);
}

function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(WORD)].map(([word]) => word.replace(/["']/g, ""));
}

function propertyOf(word: string): { readonly name: string | undefined; readonly value: string } {
  const [, name, value = ""] = /^-D([^=]+)=([\s\S]*)$/.exec(word) ?? [];
  return { name, value };
}
