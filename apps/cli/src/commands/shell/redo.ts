import { usageError } from "../../cli-error.ts";
import type { Command } from "../../command.ts";

export const redo: Command = {
  name: "redo",
  synopsis: "cmdno",
  flags: [],
  summary: "Runs the line with that number in the history again.",
  kind: "shell",
  takesAnyWords: true,
  async run({ operands: [number], shell }) {
    // zkCli accepts a redo without a number.
    if (number === undefined) return {};
    const index = Number(number);
    if (!Number.isInteger(index)) throw usageError(`redo takes the number of a line, found ${JSON.stringify(number)}`);
    await shell.redo(index);
    return { redone: index };
  },
};
