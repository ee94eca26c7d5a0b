import { type Command, expectedVersion, FLAG_VERSION, givenNode } from "../../command.ts";

export const deleteNode: Command = {
  name: "delete",
  synopsis: "[-v version] path",
  flags: [FLAG_VERSION],
  summary: "Deletes a node that has no children.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { flags, operands, output, signal } = invocation;
    if (operands.length > 1) {
      output.note("'delete path [version]' has been deprecated. Please use 'delete [-v version] path' instead.");
    }
    const version = expectedVersion(flags) ?? -1;
    const { path, client } = await givenNode(invocation);
    await client.delete(path, { version, signal });
    return { path, deleted: 1 };
  },
};
