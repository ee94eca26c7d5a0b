/**
 * Files of databases as texts: most of their bytes are zeros, and a text shows in a change what has
 * changed. The first line is the length; each other one is an offset and the bytes there.
 *
 * ```
 * 8192
 * 0 53514c69746520666f726d6174203300
 * 60 00000003
 * ```
 */

/** Zeros between two pieces that are one line: an offset costs more. */
const ZEROS_MAX = 8;
const LINE_BYTES_MAX = 64;

export function sparseText(bytes: Uint8Array): string {
  const lines = [String(bytes.length)];
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] === 0) {
      at++;
      continue;
    }
    const end = endOfPiece(bytes, at);
    lines.push(`${at} ${Buffer.from(bytes.subarray(at, end)).toString("hex")}`);
    at = end;
  }
  return `${lines.join("\n")}\n`;
}

/** @throws Error for a text that is none of {@link sparseText} */
export function sparseBytes(text: string): Buffer {
  const [length = "", ...lines] = text.trimEnd().split("\n");
  const bytes = Buffer.alloc(Number(length));
  for (const line of lines) {
    const [, at = "", hex = ""] = /^(\d+) ((?:[0-9a-f]{2})+)$/.exec(line) ?? [];
    const piece = Buffer.from(hex, "hex");
    if (piece.length === 0 || Number(at) + piece.length > bytes.length)
      throw new Error(`not an offset and bytes: ${line}`);
    bytes.set(piece, Number(at));
  }
  return bytes;
}

/** Behind the last byte of a piece that is not zero. */
function endOfPiece(bytes: Uint8Array, start: number): number {
  let end = start + 1;
  for (let at = end; at < bytes.length && at - end <= ZEROS_MAX && at - start < LINE_BYTES_MAX; at++) {
    if (bytes[at] !== 0) end = at + 1;
  }
  return end;
}
