import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { jvmSettings } from "../configuration/jvm-flags.ts";
import type { Setting } from "../configuration/keys/key-rule.ts";
import { bareKey, isGuardingKey } from "../configuration/keys/known-keys.ts";
import { WHAT_GUARDS_DECIDE } from "../configuration/misspelt-keys.ts";

/** Files beside zoo.cfg that ZooKeeper's start script runs for the variables with Java's flags. */
const SCRIPTS = ["zookeeper-env.sh", "java.env"];

/**
 * The settings of such files that this server does not read: they are programs of a shell, which
 * nothing runs here.
 */
export interface UnreadSettings {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * @param configFile zoo.cfg; undefined where there is none
 * @param values the settings in force, by key: a service may run the files itself
 */
export function unreadSettings(configFile: string | undefined, values: ReadonlyMap<string, string>): UnreadSettings {
  if (configFile === undefined) return { problems: [], warnings: [] };
  const unread = SCRIPTS.flatMap((name) => settingsOf(join(dirname(configFile), name))).filter(
    ({ key }) => !values.has(key),
  );
  const guarding = unread.filter(({ key }) => isGuardingKey(key));
  return {
    problems: guarding.map(
      ({ key, where }) =>
        `${key} (${where}) is for ZooKeeper's start script, and no such file is run here; it ${WHAT_GUARDS_DECIDE}: write it into ${configFile}, or remove the line`,
    ),
    warnings: unread
      .filter((setting) => !guarding.includes(setting))
      .map(
        ({ key, where }) => `${key} (${where}) has no effect: no such file is run here; zoo.cfg is the place for it`,
      ),
  };
}

function settingsOf(file: string): readonly Setting[] {
  return textOf(file)
    .split("\n")
    .flatMap((text, i): readonly Setting[] => {
      if (text.trimStart().startsWith("#")) return [];
      const flags = /-D\S+/g[Symbol.matchAll](text.replace(/["']/g, " "));
      return jvmSettings({ "": [...flags].map(([flag]) => flag).join(" ") }).map(({ key, value }) => ({
        key: bareKey(key),
        value,
        where: `line ${i + 1} of ${file}`,
      }));
    });
}

/** Empty where there is no such file, or none that this user may read. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
