/**
 * Java's properties: keys and values apart by `=`, `:` or white space, with escapes and continued
 * lines.
 */
export interface Property {
  readonly key: string;
  readonly value: string;
  /** From 1. */
  readonly line: number;
}

export interface PropertiesText {
  readonly properties: readonly Property[];
  readonly problems: readonly { readonly line: number; readonly text: string }[];
}

const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f" };

export function parseProperties(text: string): PropertiesText {
  const properties: Property[] = [];
  const problems: { line: number; text: string }[] = [];
  const lineOfKey = new Map<string, number>();
  for (const { text: entry, line } of logicalLines(text)) {
    const end = keyEnd(entry);
    const [key, value] = [entry.slice(0, end), entry.slice(end).replace(/^[ \t\f]*[=:]?[ \t\f]*/, "")];
    if (/\\u(?![0-9a-fA-F]{4})/.test(entry.replaceAll("\\\\", ""))) {
      problems.push({ line, text: "an escape \\u needs four hexadecimal digits" });
      continue;
    }
    const name = unescaped(key);
    const before = lineOfKey.get(name);
    if (before !== undefined) problems.push({ line, text: `the key ${name} is on line ${before} too` });
    lineOfKey.set(name, line);
    properties.push({ key: name, value: unescaped(value), line });
  }
  return { properties, problems };
}

interface LogicalLine {
  readonly text: string;
  readonly line: number;
}

/**
 * Lines without comments; a line that ends with an odd number of backslashes continues in the next
 * one.
 */
function logicalLines(text: string): readonly LogicalLine[] {
  const found: LogicalLine[] = [];
  const lines = text.split(/\r\n|\r|\n/);
  for (let i = 0; i < lines.length; i++) {
    const line = i + 1;
    let entry = (lines[i] ?? "").replace(/^[ \t\f]+/, "");
    if (entry === "" || entry.startsWith("#") || entry.startsWith("!")) continue;
    while (/(^|[^\\])(\\\\)*\\$/.test(entry) && i + 1 < lines.length) {
      entry = entry.slice(0, -1) + (lines[++i] ?? "").replace(/^[ \t\f]+/, "");
    }
    found.push({ text: entry, line });
  }
  return found;
}

function keyEnd(entry: string): number {
  for (let i = 0; i < entry.length; i++) {
    if (entry[i] === "\\") i++;
    else if (/[=: \t\f]/.test(entry[i] ?? "")) return i;
  }
  return entry.length;
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.)|$)/gs, (_all, code: string | undefined, char = "") =>
    code === undefined ? (ESCAPES[char] ?? char) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
