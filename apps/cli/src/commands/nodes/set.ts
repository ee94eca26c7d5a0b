import { type Command, expectedVersion, FLAG_STAT, FLAG_VERSION, givenNode, operand } from "../../command.ts";
import { givenData } from "../../given-data.ts";
import { decodeBase64 } from "../../texts/data-text.ts";
import { statJson, statLines } from "../../texts/stat-text.ts";

export const set: Command = {
  name: "set",
  synopsis: "path data [-s] [-v version] [-b]",
  flags: [FLAG_STAT, FLAG_VERSION, { name: "b", meaning: "Supply data in base64 format" }],
  summary: "Replaces a node's data, from a word, - (standard input) or @file; -b takes base64, -v only that version.",
  operandsMin: 2,
  describesFlags: true,
  pathOperand: 0,
  async run(invocation) {
    const { flags, output, signal } = invocation;
    const given = await givenData(operand(invocation, 1), invocation);
    const data = flags.has("b") ? decodeBase64(String(given).trim()) : given;
    const version = expectedVersion(flags) ?? -1;
    const { path, client } = await givenNode(invocation);
    const stat = await client.set(path, data, { version, signal });
    if (flags.has("s")) output.lines(statLines(stat));
    return { path, stat: statJson(stat) };
  },
};
