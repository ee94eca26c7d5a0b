import { usageError } from "../../cli-error.ts";
import { type Command, givenNode, operand } from "../../command.ts";
import type { Flags } from "../../command-flags.ts";
import { ExitStatus } from "../../exit-status.ts";
import { Progress } from "../../progress.ts";
import { globPattern } from "../../texts/name-glob.ts";
import { shownText, textOf } from "../../texts/shown-text.ts";
import { nameOf, noteForbidden, walk } from "../../walk.ts";

export const grep: Command = {
  name: "grep",
  synopsis: "[-i] [-F] [-l] [--name glob] pattern [path]",
  flags: [{ name: "i" }, { name: "F" }, { name: "l" }, { name: "name", takesValue: true, isOwn: true }],
  summary:
    "Prints lines of data below a path that match a regular expression, or a text (-F), whatever the case (-i); " +
    "-l only paths. Fails if there is none.",
  operandsMin: 1,
  operandsMax: 2,
  kind: "own",
  runsProgram: true,
  pathOperand: 1,
  async run(invocation) {
    const { flags, operands, output, shell, signal } = invocation;
    const pattern = patternOf(operand(invocation, 0), flags);
    const name = flags.value("name");
    const names = name === undefined ? undefined : globPattern(name);
    const { path, client } = await givenNode(invocation, operands[1] ?? "/");
    const progress = new Progress(output, "searched");
    const counts = { searched: 0, found: 0, lines: 0, forbidden: 0 };
    for await (const node of walk(client, path, { detail: "data", signal })) {
      progress.step(node.path);
      if (node.stat === null) counts.forbidden++;
      else if (names === undefined || names.test(nameOf(node.path))) {
        counts.searched++;
        const lines = matchingLines(node.data, pattern);
        if (lines.length === 0) continue;
        counts.found++;
        counts.lines += lines.length;
        if (flags.has("l")) output.line(shownText(node.path));
        else output.lines(lines.map(({ number, text }) => `${shownText(node.path)}:${number}: ${shownText(text)}`));
        output.json({
          command: "grep",
          item: { path: node.path, ...(flags.has("l") ? {} : { lines: lines.map((line) => ({ ...line })) }) },
        });
      }
    }
    noteForbidden(output, counts.forbidden, [" and was passed over", " and were passed over"]);
    if (counts.found === 0) shell.endsWith(ExitStatus.FAILED);
    return { path, ...counts };
  },
};

interface MatchingLine {
  readonly number: number;
  readonly text: string;
}

/** The lines that match. For bytes that are no text, one line says that they match. */
function matchingLines(data: Uint8Array | null, pattern: RegExp): readonly MatchingLine[] {
  const text = textOf(data);
  if (text === undefined) {
    return pattern.test(Buffer.from(data ?? []).toString("latin1"))
      ? [{ number: 1, text: "(binary data matches)" }]
      : [];
  }
  const lines: MatchingLine[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (pattern.test(line)) lines.push({ number: index + 1, text: line });
  }
  return lines;
}

function patternOf(text: string, flags: Flags): RegExp {
  try {
    const source = flags.has("F") ? text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&") : text;
    return new RegExp(source, flags.has("i") ? "iu" : "u");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(`grep takes a regular expression (-F for a text as it is): ${reason}`);
  }
}
