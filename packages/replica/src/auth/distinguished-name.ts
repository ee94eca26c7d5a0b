/** Attributes that have a name in distinguished names; any other is written by its number. */
const KEYWORDS: ReadonlySet<string> = new Set(
  "CN C L S ST O OU T IP STREET DC DNQUALIFIER DNQ SURNAME GIVENNAME INITIALS GENERATION EMAIL EMAILADDRESS UID SERIALNUMBER".split(
    " ",
  ),
);
const OBJECT_ID = /^(?:OID\.)?[0-2](?:\.\d+)+$/;

// Each of these is matched once at each place, so that the time grows with the text alone.
const ATTRIBUTE = /\s*([A-Za-z0-9.]+)\s*=\s*/y;
const QUOTED = /"(?:[^"\\]|\\[\s\S])*"\s*/y;
const HEXADECIMAL = /#(?:[0-9a-fA-F]{2})+\s*/y;
const PLAIN = /(?:\\[0-9a-fA-F]{2}|\\[,=+<>#;"\\ ]|[^\\,+<>;"])*/y;

/**
 * Whether a text is an X.500 name as Java reads them, such as `CN=alice,OU=people`; the empty one
 * is.
 */
export function isDistinguishedName(text: string): boolean {
  if (text === "") return true;
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    at += found?.[0].length ?? 0;
    return found;
  };
  for (;;) {
    const attribute = (take(ATTRIBUTE)?.[1] ?? "").toUpperCase();
    if (!KEYWORDS.has(attribute) && !OBJECT_ID.test(attribute)) return false;
    if (take(formAt(text, at)) === null) return false;
    if (at === text.length) return true;
    if (!/[,;+]/.test(text.charAt(at))) return false;
    at++;
  }
}

/** A value is quoted, the hexadecimal form of something, or plain. */
function formAt(text: string, at: number): RegExp {
  if (text.charAt(at) === '"') return QUOTED;
  return text.charAt(at) === "#" ? HEXADECIMAL : PLAIN;
}
