/** Values and received bytes as messages show them: short, and printable. */

const TEXT_CHARS_MAX = 60;
/** Enough for the shown text in any encoding. */
const BYTES_READ_MAX = 4 * TEXT_CHARS_MAX;

/** A value as messages show it: short, and without calling its methods. */
export function found(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "function") return "a function";
  return typeof value === "bigint" ? `${value}n` : String(value);
}

/**
 * Bytes that came where an answer of another form was expected, as messages show them: the first
 * line of a text, `a TLS record`, or their number.
 */
export function foundBytes(bytes: Uint8Array): string {
  if (bytes.length === 0) return "nothing";
  if (isTlsRecord(bytes)) return "a TLS record";
  const start = bytes.subarray(0, BYTES_READ_MAX);
  // A character may be cut off by the limit, and then is none of the shown ones.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(start, { stream: true });
  const [line = ""] = text.split(/[\r\n]/, 1);
  if (NO_TEXT.test(line) || line === "") return `${bytes.length} bytes that are no text`;
  return quoted(line);
}

/** Whether bytes begin with a handshake or an alert of TLS, whose versions all have 3 as major. */
export function isTlsRecord(bytes: Uint8Array): boolean {
  return (bytes[0] === 0x15 || bytes[0] === 0x16) && bytes[1] === 3 && (bytes[2] ?? 0) <= 4;
}

function quoted(text: string): string {
  const shown = JSON.stringify(text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text);
  return shown.replace(HIDDEN, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Bytes of no text: control characters other than a tab, and those that are not UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for them
const NO_TEXT = /[\u0000-\u0008\u000b-\u001f\ufffd]/;
/**
 * Characters that JSON writes as they are, and that move the cursor, are invisible, or change the
 * direction of the text around them.
 */
const HIDDEN = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
