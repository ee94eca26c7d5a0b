/**
 * The text of a configuration file in which a later line for a key takes the place of an earlier
 * one: a server refuses a file with two values.
 *
 * @param lines `key=value`
 */
export function lastSettings(lines: readonly string[]): string {
  const last = new Map<string, string>();
  for (const line of lines) {
    const [key = ""] = line.split("=", 1);
    if (line !== "") last.set(key, line);
  }
  return `${[...last.values()].join("\n")}\n`;
}
