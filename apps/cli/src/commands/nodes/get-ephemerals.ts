import { type Command, clientFor } from "../../command.ts";
import { checkedPath } from "../../texts/znode-path.ts";

export const getEphemerals: Command = {
  name: "getEphemerals",
  synopsis: "path",
  flags: [],
  summary: "Lists this session's ephemerals whose path starts with a prefix.",
  pathOperand: 0,
  async run(invocation) {
    const prefix = checkedPath(invocation.operands[0] ?? "/");
    const client = await clientFor(invocation, prefix);
    const paths = await client.getEphemerals(prefix, { signal: invocation.signal });
    invocation.output.line(`[${paths.join(", ")}]`);
    return { paths };
  },
};
