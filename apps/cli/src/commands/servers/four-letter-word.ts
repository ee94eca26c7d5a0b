import { type AdminCommandOptions, ArgumentError, adminCommand, isZkError } from "@zooid/client";
import { CliError, usageError } from "../../cli-error.ts";
import { type Command, FLAG_TIMEOUT, operand, timeoutMs } from "../../command.ts";
import { serversOf } from "./status.ts";

export const fourLetterWord: Command = {
  name: "4lw",
  synopsis: "[--timeout ms] word [host:port]",
  flags: [FLAG_TIMEOUT],
  summary: "Sends a four-letter word, such as mntr or cons, to a server; default: each of the connect string.",
  operandsMin: 1,
  operandsMax: 2,
  kind: "own",
  async run(invocation) {
    const { connection, operands, output, signal, flags } = invocation;
    const word = operand(invocation, 0);
    if (!/^[a-z]{4}$/.test(word)) throw usageError(`a word has four small letters, found ${JSON.stringify(word)}`);
    const servers = operands[1] === undefined ? serversOf(connection.server) : [operands[1]];
    const limit = timeoutMs(flags);
    const options = { signal, ...connection.security, ...(limit === undefined ? {} : { timeoutMs: limit }) };
    const answers = [];
    for (const server of servers) {
      const answer = await answerOf(server, word, options);
      if (servers.length > 1) output.line(`${server}:`);
      output.lines([answer.replace(/\n$/, "")]);
      answers.push({ server, answer });
    }
    return { word, answers };
  },
};

/**
 * The client's sentence names server and reason; zkCli's, for requests of a session, names neither.
 */
async function answerOf(server: string, word: string, options: AdminCommandOptions): Promise<string> {
  try {
    return await adminCommand(server, word, options);
  } catch (error) {
    if (error instanceof ArgumentError) throw usageError(error.message);
    throw isZkError(error) ? new CliError(error.message, { code: error.code }) : error;
  }
}
