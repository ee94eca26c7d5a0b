import { isZkError } from "@zooid/client";
import { type Command, operand } from "../command.ts";

export const addauth: Command = {
  name: "addauth",
  synopsis: "scheme auth",
  flags: [],
  summary: "Shows an identity to the server, digest user:password for example.",
  operandsMin: 2,
  async run(invocation) {
    const { connection, signal, output } = invocation;
    const scheme = operand(invocation, 0);
    try {
      await connection.addAuth({ scheme, auth: operand(invocation, 1) }, signal);
    } catch (error) {
      // zkCli leaves it at the event that tells of the refusal, and goes on without a connection.
      if (!isZkError(error, "AUTH_FAILED") || output.format === "json") throw error;
    }
    return { scheme };
  },
};
