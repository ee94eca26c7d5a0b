import { ConfigError } from "@zooid/embedded-server";

/** A word that may be a setting, with the value that some sentences write behind it. */
const WORD = /[\w.-]+(?:=[^\s,;:()]*)?/g;

/**
 * A sentence about settings, with the origin of each of them, a file's line or an option, behind
 * its first mention: `clientPort (line 3) is …`.
 *
 * @param origins by key
 */
export function withOrigins(sentence: string, origins: ReadonlyMap<string, string>): string {
  const named = new Set<string>();
  return sentence.replace(WORD, (word, at: number) => {
    const end = word.endsWith(".") ? word.length - 1 : word.length;
    const [key = ""] = word.slice(0, end).split("=");
    const origin = origins.get(key);
    // The name of a file is no setting.
    if (origin === undefined || named.has(key) || sentence[at - 1] === "/") return word;
    named.add(key);
    if (sentence.startsWith(" (", at + word.length)) return word;
    return `${word.slice(0, end)} (${origin})${word.slice(end)}`;
  });
}

/**
 * The same error, each of whose problems says where its settings stand, behind the file that most
 * of them are in.
 *
 * @param configFile undefined where the command line alone decides
 */
export function errorWithOrigins(
  error: unknown,
  { origins, configFile }: { readonly origins: ReadonlyMap<string, string>; readonly configFile?: string | undefined },
): unknown {
  if (!(error instanceof ConfigError)) return error;
  const file = configFile === undefined ? "" : `${configFile}: `;
  return new ConfigError(error.problems.map((problem) => `${file}${withOrigins(problem, origins)}`));
}
