import { CliError } from "../../cli-error.ts";
import { type Command, usageOf } from "../../command.ts";
import { nearestOf } from "../../nearest.ts";

export const help: Command = {
  name: "help",
  synopsis: "[command]",
  flags: [],
  summary: "Explains the commands.",
  operandsMax: 1,
  kind: "own",
  run({ operands: [name], output, shell }) {
    const found = shell.commands.filter((command) => name === undefined || command.name === name);
    if (name !== undefined && found.length === 0) {
      const nearest = nearestOf(
        shell.commands.map((command) => command.name),
        name,
      );
      const hint = nearest === undefined ? "help without an argument lists them all" : `the nearest is ${nearest}`;
      throw new CliError(`there is no command ${JSON.stringify(name)}; ${hint}`, { code: "USAGE", hint });
    }
    for (const command of found) output.lines([usageOf(command).trimEnd(), `    ${command.summary}`]);
    return { commands: found.map((command) => ({ usage: usageOf(command).trimEnd(), summary: command.summary })) };
  },
};
