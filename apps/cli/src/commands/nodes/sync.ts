import { isZkError } from "@zooid/client";
import { type Command, givenNode } from "../../command.ts";

const SYNC_TIMEOUT_MS = 30_000;

export const sync: Command = {
  name: "sync",
  synopsis: "path",
  flags: [],
  summary: "Brings the server up to date with its leader.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { output, signal } = invocation;
    const { path, client } = await givenNode(invocation);
    try {
      await client.sync(path, { timeoutMs: SYNC_TIMEOUT_MS, signal });
    } catch (error) {
      if (!isZkError(error) || output.format === "json") throw error;
      output.line(`Sync has failed. rc=${error.errno}`);
      return {};
    }
    output.line("Sync is OK");
    return { path };
  },
};
