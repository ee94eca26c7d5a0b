import type { Command } from "../../command.ts";

export const printwatches: Command = {
  name: "printwatches",
  synopsis: "on|off",
  flags: [],
  summary: "Turns printing of events on or off; without an argument shows the setting.",
  kind: "shell",
  takesAnyWords: true,
  run({ connection, operands: [setting], output }) {
    if (setting === undefined) output.line(`printwatches is ${connection.printsWatches ? "on" : "off"}`);
    else connection.printsWatches = setting === "on";
    return { printwatches: connection.printsWatches };
  },
};
