import { type Block, markdownBlocks } from "./markdown-blocks.ts";

/** The acts of a page's reader, block by block. */
export type Step =
  /** Writes a program to a file. */
  | { readonly kind: "write"; readonly place: string; readonly file: string; readonly text: string }
  /** Types commands, and compares what they print. */
  | {
      readonly kind: "commands";
      readonly place: string;
      /** Commands that end. */
      readonly commands: string;
      /**
       * The last line, where it starts a server that keeps the terminal; undefined where each
       * command ends.
       */
      readonly server: string | undefined;
      /** Lines of the output, in order; see {@link missingLine}. */
      readonly output: readonly string[];
    };

/** Blocks that are not run, by heading and language. */
export interface LeftOut {
  readonly page: string;
  readonly heading: string;
  readonly language: string;
  readonly reason: string;
}

export interface PageSteps {
  readonly steps: readonly Step[];
  /** The places that do not fit a page that is run, one sentence each. */
  readonly faults: readonly string[];
}

const HIDDEN_FENCE = /^(?: +```|~~~)/m;
/** A program names its file in its first line. */
const FILE_NAME = /^\/\/ ([\w-]+\.ts)\n/;
/**
 * A server that keeps the terminal: not in the background, and not one of its commands that end.
 */
const SERVER = /^(?:npm start|npx zooid-server)(?!.*&$| (?:--help|--version|init-secret|status|health)\b)/;

/**
 * The steps of a page: its `sh` blocks and its `ts` blocks, each with the `text` block that follows
 * it as its output.
 *
 * @param name the page, as the list of what is left out names it
 */
export function pageSteps(name: string, page: string, leftOut: readonly LeftOut[]): PageSteps {
  const steps: Step[] = [];
  const faults: string[] = [];
  const own = leftOut.filter((each) => each.page === name);
  const isLeftOut = ({ heading, language }: Block): boolean =>
    own.some((each) => each.heading === heading && each.language === language);
  const blocks = markdownBlocks(page);
  if (HIDDEN_FENCE.test(page)) faults.push(`${name}: a fence that is indented, or made of tildes, is not seen here`);
  for (const [index, block] of blocks.entries()) {
    const { language, text, line } = block;
    const place = `${name}:${line}`;
    if (isLeftOut(block)) continue;
    if (language === "sh") {
      const next = blocks[index + 1];
      const output = next?.language === "text" ? next.text.trimEnd().split("\n") : [];
      const { commands, server } = splitServer(text.trimEnd().split("\n"));
      steps.push({ kind: "commands", place, commands, server, output });
      if (output.length === 0 && server === undefined)
        faults.push(`${place}: commands that end have a block of text below them, with their output`);
    } else if (language === "ts") {
      const file = FILE_NAME.exec(text)?.[1];
      if (file === undefined) faults.push(`${place}: a program begins with the name of its file: // NAME.ts`);
      else steps.push({ kind: "write", place, file, text });
      const isRun = blocks.slice(index).some((later) => later.language === "sh" && later.text.includes(file ?? ""));
      if (!isRun) faults.push(`${place}: no later block runs ${file}`);
    } else if (language !== "" && language !== "text") {
      faults.push(`${place}: a block of ${language} is neither run nor left out with a reason`);
    }
  }
  for (const { heading, language } of own) {
    const count = blocks.filter((block) => block.heading === heading && block.language === language).length;
    if (count !== 1)
      faults.push(`${name}: "${heading}" has ${count} blocks of ${language}, and a reason to leave out one`);
  }
  return { steps, faults };
}

function splitServer(lines: readonly string[]): { readonly commands: string; readonly server: string | undefined } {
  const last = lines.at(-1) ?? "";
  const [server = "", ...before] = last.split(" && ").reverse();
  if (!SERVER.test(server)) return { commands: lines.join("\n"), server: undefined };
  return { commands: [...lines.slice(0, -1), ...before.reverse()].join("\n"), server };
}

/**
 * The first expected line that an output does not have. The output may have more lines; `…` stands
 * for any text in a line.
 *
 * @returns undefined where all are there, in order
 */
export function missingLine(expected: readonly string[], output: string): string | undefined {
  const lines = output.split("\n").map((line) => line.trimEnd());
  let from = 0;
  for (const wanted of expected) {
    const found = lines.findIndex((line, index) => index >= from && fits(wanted.trimEnd(), line));
    if (found === -1) return wanted;
    from = found + 1;
  }
  return undefined;
}

/**
 * The end of an output beyond the expected lines: the end of an output is shown, unless a line `…`
 * says that it continues.
 *
 * @returns undefined where it ends as expected
 */
export function unexpectedEnd(expected: readonly string[], output: string): string | undefined {
  const wanted = expected.at(-1)?.trimEnd();
  const last = output.trimEnd().split("\n").at(-1)?.trimEnd() ?? "";
  return wanted === undefined || wanted === "…" || fits(wanted, last) ? undefined : last;
}

/**
 * Each part between two gaps is looked for behind the one before: linear, whatever a program
 * prints.
 */
function fits(wanted: string, line: string): boolean {
  const [head = "", ...parts] = wanted.split("…");
  if (parts.length === 0) return line === head;
  const tail = parts.pop() ?? "";
  if (!line.startsWith(head)) return false;
  let at = head.length;
  for (const part of parts) {
    const found = line.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return line.length - tail.length >= at && line.endsWith(tail);
}
