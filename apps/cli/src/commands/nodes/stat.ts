import type { Stat, Watched } from "@zooid/client";
import { CliError } from "../../cli-error.ts";
import { type Command, FLAG_WATCH, givenNode } from "../../command.ts";
import { refusalText } from "../../explain-error.ts";
import { statJson, statLines } from "../../texts/stat-text.ts";

export const stat: Command = {
  name: "stat",
  synopsis: "[-w] path",
  flags: [FLAG_WATCH],
  summary: "Prints a node's Stat.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { connection, flags, operands, output, signal } = invocation;
    if (operands.length > 1) {
      output.note("'stat path [watch]' has been deprecated. Please use 'stat [-w] path' instead.");
    }
    const watch = flags.has("w") || operands.length > 1;
    const { path, client } = await givenNode(invocation);
    const found: { readonly stat: Stat | null } & Partial<Watched> = watch
      ? await client.exists(path, { watch, signal })
      : { stat: await client.exists(path, { signal }) };
    connection.watches.addOneShot("data", path, found.watch);
    if (found.stat === null) throw new CliError(refusalText("NO_NODE", path), { code: "NO_NODE", path });
    output.lines(statLines(found.stat));
    return { path, stat: statJson(found.stat) };
  },
};
