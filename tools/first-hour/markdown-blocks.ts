/** One fenced block of a Markdown page. */
export interface Block {
  /** The heading above it, without the number signs. */
  readonly heading: string;
  /** The word behind the fence: `sh`, `ts`, `text`; empty for none. */
  readonly language: string;
  readonly text: string;
  /** Number of its first line in the page, from 1. */
  readonly line: number;
}

/** The fenced blocks of a page, in order. Headings inside a block are text. */
export function markdownBlocks(page: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = "";
  let open: { readonly language: string; readonly line: number; readonly lines: string[] } | undefined;
  for (const [index, line] of page.split("\n").entries()) {
    if (open !== undefined) {
      if (line !== "```") {
        open.lines.push(line);
        continue;
      }
      const text = open.lines.map((each) => `${each}\n`).join("");
      blocks.push({ heading, language: open.language, text, line: open.line });
      open = undefined;
    } else if (line.startsWith("```")) {
      open = { language: line.slice("```".length), line: index + 2, lines: [] };
    } else if (line.startsWith("#")) {
      heading = line.replace(/^#+/, "").trim();
    }
  }
  return blocks;
}
