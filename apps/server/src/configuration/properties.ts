import { ConfigError } from "@zooid/embedded-server";
import { Properties } from "properties-file/parser";

/** One setting with the line that it begins on. */
export interface Property {
  readonly key: string;
  readonly value: string;
  readonly line: number;
  /** Where it ends: a backslash continues it on the next line. */
  readonly lastLine: number;
}

/**
 * Reads Java's properties syntax, which zoo.cfg is written in. Every occurrence of a key is kept,
 * in the order of the file.
 *
 * @throws ConfigError for an incomplete `\uXXXX`, which Java refuses too
 */
export function parseProperties(text: string): readonly Property[] {
  return propertiesOf(text)
    .getProperties()
    .map(({ key, value, startingLineNumber, endingLineNumber }) => ({
      key,
      value: value.trim(),
      line: startingLineNumber,
      lastLine: endingLineNumber,
    }));
}

function propertiesOf(text: string): Properties {
  try {
    return new Properties(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`${reason}: expected four hexadecimal digits behind \\u; a backslash is written twice`]);
  }
}
