/**
 * A text from a server for a terminal: control characters and marks that change the direction of
 * text are escaped, so that data cannot move the cursor or hide what stands beside them.
 */
export function shownText(text: string): string {
  return text.replace(HIDDEN, (letter) => {
    const code = letter.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it escapes
const HIDDEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Data as text; undefined where the bytes are no UTF-8, or have a byte 0, as files of programs
 * have.
 */
export function textOf(data: Uint8Array | null): string | undefined {
  if (data === null) return "";
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
