import { readFileSync } from "node:fs";
import { digestMd5, type SaslMechanism } from "@zooid/client";
import { usageError } from "./cli-error.ts";
import type { JavaSetting } from "./java-settings.ts";

const SECTION = "Client";
const DIGEST = /(?:^|\.)DigestLoginModule$/;

/** One word of the file, or a mark of its grammar; blanks and comments lie between. */
const TOKEN = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*("(?:[^"\\\n]|\\.)*"|[{}=;]|[^\s{}=;"]+)/y;

/**
 * How a JAAS login configuration says that one gets in: `Client { …DigestLoginModule required username="…" password="…"; };`
 *
 * @param file the setting that names the file
 * @param section the setting that names another section than `Client`
 * @returns undefined for a file without `Client`, where no other section is named: it is somebody else's
 * @throws CliError for a file that cannot be read, and for what it says that is not done here
 */
export function jaasMechanism(file: JavaSetting, section: JavaSetting | undefined): SaslMechanism | undefined {
  const name = section?.value ?? SECTION;
  const module = loginModule(wordsOf(file), name);
  if (module === undefined && section === undefined) return undefined;
  if (module === undefined) throw usageError(`${file.value} has no section ${name}, or it cannot be read`);
  const { className, options } = module;
  if (!DIGEST.test(className)) {
    throw usageError(
      `${file.value}: ${className} cannot be used: DigestLoginModule is, and Kerberos is not, supported`,
    );
  }
  const [username, password] = [options.get("username"), options.get("password")];
  if (username !== undefined && password !== undefined) return digestMd5({ username, password });
  throw usageError(`${file.value}: the section ${name} has no username and password`);
}

function wordsOf({ key, value, where }: JavaSetting): readonly string[] {
  let text: string;
  try {
    text = readFileSync(value, "utf8");
  } catch (error) {
    throw usageError(`${where}: ${key}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const words: string[] = [];
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(text); found !== null; found = TOKEN.exec(text)) words.push(found[1] ?? "");
  return words;
}

interface LoginModule {
  readonly className: string;
  readonly options: ReadonlyMap<string, string>;
}

/** The first module of a section: `Section { class flag name="value" …; … };` */
function loginModule(words: readonly string[], section: string): LoginModule | undefined {
  // Also a value may be called as a section is: a brace stands behind the section only.
  const at = words.findIndex((word, i) => unquoted(word) === section && words[i + 1] === "{");
  const className = at === -1 ? undefined : words[at + 2];
  if (className === undefined || /^[{}=;]$/.test(className)) return undefined;
  const options = new Map<string, string>();
  for (let i = at + 4; words[i] !== ";"; i += 3) {
    const [key, equals, value] = words.slice(i, i + 3);
    if (key === undefined || equals !== "=" || value === undefined) return undefined;
    options.set(unquoted(key), unquoted(value));
  }
  return { className: unquoted(className), options };
}

function unquoted(word: string): string {
  return word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/g, "$1") : word;
}
