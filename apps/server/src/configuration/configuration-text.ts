import { readFileSync } from "node:fs";

/**
 * The text of a configuration file: UTF-8, or ISO 8859-1 where it is none, which Java reads it as.
 * Either may begin with a byte-order mark.
 *
 * @throws RangeError for UTF-16, whose lines would be read as other settings, or as none
 */
export function readText(file: string): string {
  const bytes = readFileSync(file);
  if (bytes.includes(0))
    throw new RangeError("it has bytes of value 0, as UTF-16 and binary files do; a configuration is text in UTF-8");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return bytes.toString("latin1");
  }
}
