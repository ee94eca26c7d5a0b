import { type Command, clientFor, operand } from "../../command.ts";
import { checkedPath } from "../../texts/znode-path.ts";

export const getAllChildrenNumber: Command = {
  name: "getAllChildrenNumber",
  synopsis: "path",
  flags: [],
  summary: "Counts a node's descendants.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const path = checkedPath(operand(invocation, 0));
    const client = await clientFor(invocation, path);
    const count = await client.getAllChildrenNumber(path, { signal: invocation.signal });
    invocation.output.line(String(count));
    return { path, count };
  },
};
