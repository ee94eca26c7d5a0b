import { type Command, usageOf } from "../../command.ts";

export const help: Command = {
  name: "help",
  synopsis: "[command]",
  flags: [],
  summary: "Explains the commands.",
  operandsMax: 1,
  kind: "own",
  run({ operands: [name], output, shell }) {
    const found = shell.commands.filter((command) => name === undefined || command.name === name);
    if (found.length === 0) output.note(`there is no command ${name}; help without an argument lists them all`);
    for (const command of found) output.lines([usageOf(command).trimEnd(), `    ${command.summary}`]);
    return { commands: found.map((command) => ({ usage: usageOf(command).trimEnd(), summary: command.summary })) };
  },
};
