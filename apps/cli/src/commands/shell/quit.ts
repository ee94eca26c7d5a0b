import type { Command } from "../../command.ts";

export const quit: Command = {
  name: "quit",
  synopsis: "",
  flags: [],
  summary: "Ends the session and the shell.",
  kind: "shell",
  takesAnyWords: true,
  async run({ connection, shell }) {
    await connection.close();
    shell.quit();
    return {};
  },
};
