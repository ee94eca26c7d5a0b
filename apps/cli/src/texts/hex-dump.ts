const BYTES_PER_ROW = 16;
const EDGE = `+--------+${"-".repeat(3 * BYTES_PER_ROW + 1)}+----------------+`;
const HEAD = [
  `         +${"-".repeat(3 * BYTES_PER_ROW + 1)}+`,
  "         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |",
  EDGE,
];

/**
 * Bytes as a table of hexadecimal and text, as zkCli's `get -x` draws it. One empty line for no
 * bytes.
 */
export function hexDumpLines(bytes: Uint8Array): readonly string[] {
  if (bytes.length === 0) return [""];
  const lines = [...HEAD];
  for (let offset = 0; offset < bytes.length; offset += BYTES_PER_ROW) {
    const row = bytes.subarray(offset, offset + BYTES_PER_ROW);
    const hex = Array.from(row, (byte) => ` ${byte.toString(16).padStart(2, "0")}`).join("");
    const text = Array.from(row, (byte) => (byte > 0x1f && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    const place = offset.toString(16).padStart(8, "0");
    lines.push(`|${place}|${hex.padEnd(3 * BYTES_PER_ROW)} |${text.padEnd(BYTES_PER_ROW)}|`);
  }
  return [...lines, EDGE];
}
