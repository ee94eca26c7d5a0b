/** Attributes that have a name in distinguished names; any other is written by its number. */
const KEYWORDS: ReadonlySet<string> = new Set(
  "CN C L S ST O OU T IP STREET DC DNQUALIFIER DNQ SURNAME GIVENNAME INITIALS GENERATION EMAIL EMAILADDRESS UID SERIALNUMBER".split(
    " ",
  ),
);
const OBJECT_ID = /^(?:OID\.)?[0-2](?:\.\d+)+$/;
/**
 * One `attribute=value`, and what divides it from the next. The value is quoted, the hexadecimal form of something, or plain. Blanks before
 * it are taken once and for all (a lookahead does not go back), else a long run of them would be tried from each of its places.
 */
const PART =
  /\s*([A-Za-z0-9.]+)\s*=(?=(\s*))\2(?:"(?:[^"\\]|\\[\s\S])*"\s*|#(?:[0-9a-fA-F]{2})+\s*|(?![#"])(?:\\[0-9a-fA-F]{2}|\\[,=+<>#;"\\ ]|[^\\,+<>;"])*)([,;+]|$)/y;

/** Whether a text is an X.500 name as Java reads them, such as `CN=alice,OU=people`; the empty one is. */
export function isDistinguishedName(text: string): boolean {
  if (text === "") return true;
  PART.lastIndex = 0;
  for (;;) {
    const [, attribute = "", , divider] = PART.exec(text) ?? [];
    if (!KEYWORDS.has(attribute.toUpperCase()) && !OBJECT_ID.test(attribute.toUpperCase())) return false;
    if (divider === "") return true;
  }
}
