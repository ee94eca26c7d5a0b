import type { Command } from "../../command.ts";

export const history: Command = {
  name: "history",
  synopsis: "",
  flags: [],
  summary: "Prints the last eleven lines with the numbers that redo takes.",
  kind: "shell",
  takesAnyWords: true,
  run({ output, shell }) {
    const lines = shell.recentLines();
    for (const { index, line } of lines) output.line(`${index} - ${line}`);
    return { history: lines.map(({ index, line }) => ({ index, line })) };
  },
};
