import type { Command } from "../../command.ts";

export const whoami: Command = {
  name: "whoami",
  synopsis: "",
  flags: [],
  summary: "Prints the identities of this connection.",
  async run({ connection, output, signal }) {
    const client = await connection.ready({ signal });
    const identities = await client.whoAmI({ signal });
    output.lines(["Auth scheme: User", ...identities.map(({ scheme, user }) => `${scheme}: ${user}`)]);
    return { identities: identities.map(({ scheme, user }) => ({ scheme, user })) };
  },
};
