import type { Command } from "../../command.ts";

export const connect: Command = {
  name: "connect",
  synopsis: "host:port",
  flags: [],
  summary: "Ends the session and starts a new one, at other servers if given.",
  kind: "shell",
  takesAnyWords: true,
  async run({ connection, operands }) {
    await connection.open(operands[0] ?? connection.server);
    return { server: connection.server };
  },
};
