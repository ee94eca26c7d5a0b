import { isZkError } from "@zooid/client";
import { type Command, operand } from "../../command.ts";

export const addauth: Command = {
  name: "addauth",
  synopsis: "scheme auth",
  flags: [],
  summary: "Adds credentials, digest user:password for example.",
  operandsMin: 2,
  async run(invocation) {
    const { connection, signal, output } = invocation;
    const scheme = operand(invocation, 0);
    try {
      await connection.addAuth({ scheme, auth: operand(invocation, 1) }, signal);
    } catch (error) {
      // zkCli only prints the event of the refusal, and continues without a connection.
      if (!isZkError(error, "AUTH_FAILED") || output.format === "json") throw error;
    }
    return { scheme };
  },
};
