/** One setting with the line that it stands on. */
export interface Property {
  readonly key: string;
  readonly value: string;
  readonly line: number;
}

/**
 * Reads Java's properties syntax, which zoo.cfg is written in: `key=value`, `key: value` or `key value`; comments after `#` or
 * `!`; a backslash at the end of a line joins the next one; `\uXXXX` and the usual escapes.
 */
export function parseProperties(text: string): readonly Property[] {
  const properties: Property[] = [];
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  for (let i = 0; i < lines.length; i++) {
    const line = i + 1;
    let logical = (lines[i] ?? "").trimStart();
    if (logical === "" || logical.startsWith("#") || logical.startsWith("!")) continue;
    while (endsInOddBackslashes(logical) && i + 1 < lines.length) {
      logical = logical.slice(0, -1) + (lines[++i] ?? "").trimStart();
    }
    if (endsInOddBackslashes(logical)) logical = logical.slice(0, -1);
    const [rawKey, rawValue] = splitKey(logical);
    properties.push({ key: unescapeText(rawKey), value: unescapeText(rawValue).trim(), line });
  }
  return properties;
}

function endsInOddBackslashes(text: string): boolean {
  return (/\\+$/.exec(text)?.[0].length ?? 0) % 2 === 1;
}

/** The key ends at the first `=`, `:` or blank that is not escaped. */
function splitKey(line: string): readonly [key: string, value: string] {
  let end = 0;
  while (end < line.length && !/[=:\s]/.test(line[end] ?? "")) end += line[end] === "\\" ? 2 : 1;
  const value = line.slice(end).replace(/^\s*[=:]?\s*/, "");
  return [line.slice(0, end), value];
}

function unescapeText(text: string): string {
  return text.replace(/\\u([0-9a-fA-F]{4})|\\(.)/g, (_, hex: string | undefined, char: string | undefined) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return { t: "\t", n: "\n", r: "\r", f: "\f" }[char ?? ""] ?? char ?? "";
  });
}
