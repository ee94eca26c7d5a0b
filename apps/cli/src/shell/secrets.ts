import { distance } from "fastest-levenshtein";

/**
 * Credentials in lines of commands. They stand behind `addauth`, behind the flag `--auth` of other
 * commands, behind the name of a scheme, and in URLs. A misspelt word, another case and a word in
 * quotes keep none of them: a line that is left out by mistake costs less than a password that is
 * kept.
 */
const KEYWORDS = ["addauth", "auth"];
const SCHEMES: ReadonlySet<string> = new Set(["digest", "super", "sasl"]);
/** Letters that a misspelt keyword differs in, a swap of two letters among them. */
const TYPOS_MAX = 2;

/** Whether a line has credentials. */
export function isSecret(line: string): boolean {
  return secretsBegin(line) !== undefined;
}

/** The line up to its credentials. */
export function withoutSecrets(line: string): string {
  const begin = secretsBegin(line);
  return begin === undefined ? line : `${line.slice(0, begin)} ***`;
}

/** The end of the word behind which credentials stand. */
function secretsBegin(line: string): number | undefined {
  for (const { 0: word, index } of line.matchAll(/\S+/g)) {
    const end = index + word.length;
    const isLast = line.slice(end).trim() === "";
    // `--auth=digest u:secret`
    const [name = ""] = word.split("=", 1);
    if (isKeyword(name)) return index + name.length;
    const inUrl = urlSecretBegins(line.slice(index), name);
    if (inUrl !== undefined) return index + inUrl;
    if (!isLast && SCHEMES.has(word.toLowerCase().replaceAll(/["']/g, ""))) return end;
  }
  return undefined;
}

/** Such as `http://u:secret@host`; behind `--admin` also without the scheme. */
function urlSecretBegins(rest: string, name: string): number | undefined {
  const [word = ""] = rest.split(/\s/, 1);
  const scheme = word.indexOf("://");
  const begin = scheme === -1 ? name.length : scheme + 3;
  const isUrl = scheme !== -1 || /^["']?--?admin$/i.test(name);
  return isUrl && rest.includes("@", begin) ? begin : undefined;
}

function isKeyword(word: string): boolean {
  const letters = bare(word);
  const isFlag = /^["']?-/.test(word);
  return KEYWORDS.some((keyword) => {
    if (letters === keyword) return isFlag || keyword !== "auth";
    if (keyword === "auth") return isFlag && letters.length >= 3 && distance(letters, keyword) <= TYPOS_MAX;
    return distance(letters, keyword) <= TYPOS_MAX;
  });
}

function bare(word: string): string {
  return word.toLowerCase().replaceAll(/[^a-z]/g, "");
}
