import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "@zooid/conformance/internal/servers/endpoint";

/**
 * The lines of the first block of code below a heading of a page of docs, without comments: tools
 * run procedures as they are written there.
 *
 * @throws Error when the page has no such heading, or no block below it
 */
export function documentedLines(page: string, heading: string): readonly string[] {
  const bare = blockBelow(page, heading).map((line) => (line.split(" #")[0] ?? "").trimEnd());
  return bare.filter((line) => line !== "" && !line.startsWith("#"));
}

/** The lines of each step in such a block: a step begins with a comment `# step N`. */
export function documentedSteps(page: string, heading: string): readonly (readonly string[])[] {
  const steps: string[][] = [];
  for (const line of blockBelow(page, heading)) {
    if (line.startsWith("# step ")) steps.push([]);
    else steps.at(-1)?.push(line);
  }
  if (steps.length === 0) throw new Error(`docs/${page} has no steps below "${heading}"`);
  return steps;
}

function blockBelow(page: string, heading: string): readonly string[] {
  const lines = readFileSync(join(ROOT, "docs", page), "utf8").split("\n");
  const from = lines.findIndex((line) => line.startsWith("#") && line.endsWith(` ${heading}`));
  const begin = from < 0 ? -1 : lines.findIndex((line, index) => index > from && line.startsWith("```"));
  const end = lines.findIndex((line, index) => index > begin && line === "```");
  const isOther = lines.slice(from + 1, begin).some((line) => line.startsWith("#"));
  if (begin < 0 || end < 0 || isOther) throw new Error(`docs/${page} has no block of code below "${heading}"`);
  return lines.slice(begin + 1, end);
}
