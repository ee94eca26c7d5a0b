/**
 * Whether a text has a format, and where it has not. The parsers of YAML and XML are loaded when
 * they are needed.
 */
import { parseProperties } from "./properties-text.ts";

export const TEXT_FORMATS = ["json", "yaml", "xml", "properties"] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];
export const TEXT_FORMAT_NAMES: Readonly<Record<TextFormat, string>> = {
  json: "JSON",
  yaml: "YAML",
  xml: "XML",
  properties: "properties",
};

/** Longer texts take a second or more to parse. */
const CHECKED_CHARS_MAX = 512 * 1024;
const PROBLEMS_MAX = 10;

export interface TextProblem {
  /** From 1; undefined where the parser does not say. */
  readonly line: number | undefined;
  readonly text: string;
}

/**
 * By the extension of the node's name, else by how the text begins; undefined for a text without a
 * format.
 */
export function guessedFormat(path: string, text: string): TextFormat | undefined {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase();
  const byName = extension === "yml" ? "yaml" : TEXT_FORMATS.find((format) => format === extension);
  if (byName !== undefined) return byName;
  if (/^\s*[[{]/.test(text)) return "json";
  return /^\s*<[?!a-z_]/i.test(text) ? "xml" : undefined;
}

/** Empty for a text that has the format, and for one that is too long to be checked. */
export async function problemsOf(text: string, format: TextFormat): Promise<readonly TextProblem[]> {
  if (text.length > CHECKED_CHARS_MAX) return [];
  switch (format) {
    case "json":
      return jsonProblems(text);
    case "yaml": {
      const { LineCounter, parseAllDocuments } = await import("yaml");
      const lineCounter = new LineCounter();
      const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false });
      if (!Array.isArray(documents)) return [];
      return documents
        .flatMap(({ errors }) => errors)
        .slice(0, PROBLEMS_MAX)
        .map((error) => ({ line: lineCounter.linePos(error.pos[0]).line, text: error.message }));
    }
    case "xml":
      return await xmlProblems(text);
    case "properties":
      return parseProperties(text).problems.slice(0, PROBLEMS_MAX);
  }
}

function jsonProblems(text: string): readonly TextProblem[] {
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, position] = /position (\d+)/.exec(message) ?? [];
    const line = position === undefined ? undefined : text.slice(0, Number(position)).split("\n").length;
    return [{ line, text: message }];
  }
}

async function xmlProblems(text: string): Promise<readonly TextProblem[]> {
  const { parseXml, XmlError } = await import("@rgrove/parse-xml");
  try {
    parseXml(text);
    return [];
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
    return [{ line: error.line, text: error.message.split("\n")[0] ?? "" }];
  }
}
