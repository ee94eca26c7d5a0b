import { type Command, FLAG_STAT, givenNode } from "../../command.ts";
import { aclJson, aclLines } from "../../texts/acl-text.ts";
import { statJson, statLines } from "../../texts/stat-text.ts";

export const getAcl: Command = {
  name: "getAcl",
  synopsis: "[-s] path",
  flags: [FLAG_STAT],
  summary: "Prints a node's access list.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { flags, output, signal } = invocation;
    const { path, client } = await givenNode(invocation);
    const { acl, stat } = await client.getAcl(path, { signal });
    output.lines(aclLines(acl));
    if (flags.has("s")) output.lines(statLines(stat));
    return { path, acl: aclJson(acl), stat: statJson(stat) };
  },
};
