import type { Command } from "../../command.ts";

export const close: Command = {
  name: "close",
  synopsis: "",
  flags: [],
  summary: "Ends the session; the shell continues.",
  async run({ connection }) {
    await connection.close();
    return { closed: true };
  },
};
