/** One directive of a challenge or a response of DIGEST-MD5. */
export interface DigestMd5Directive {
  /** As it is written. */
  readonly name: string;
  /** Without its quotation marks. */
  readonly value: string;
}

// Each of these is matched once at each place, so that the time grows with the text alone.
const DIVIDERS = /[\s,]*/y;
const NAME = /[!#-'*+.0-9A-Z^-z|~-]+/y;
const EQUALS = /\s*=\s*/y;
const QUOTED = /"((?:[^"\\]|\\[\s\S])*)"/y;
const BARE = /[^\s,"]*/y;
const END = /\s*(?=,|$)/y;

/**
 * Reads `name=value,name="quoted \" value"` (RFC 2831, section 7.1).
 *
 * @param text one character for each byte
 * @returns undefined for anything else
 */
export function digestMd5Directives(text: string): readonly DigestMd5Directive[] | undefined {
  const directives: DigestMd5Directive[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  };
  while (at < text.length) {
    take(DIVIDERS);
    const name = take(NAME)?.[0];
    if (name === undefined || take(EQUALS) === null) return undefined;
    const quoted = take(QUOTED)?.[1];
    const value = quoted === undefined ? take(BARE)?.[0] : quoted.replace(/\\([\s\S])/g, "$1");
    if (value === undefined || take(END) === null) return undefined;
    directives.push({ name, value });
  }
  return directives;
}
