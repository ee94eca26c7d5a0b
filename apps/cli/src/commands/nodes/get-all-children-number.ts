import { type Command, givenNode } from "../../command.ts";

export const getAllChildrenNumber: Command = {
  name: "getAllChildrenNumber",
  synopsis: "path",
  flags: [],
  summary: "Counts a node's descendants.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { path, client } = await givenNode(invocation);
    const count = await client.getAllChildrenNumber(path, { signal: invocation.signal });
    invocation.output.line(String(count));
    return { path, count };
  },
};
