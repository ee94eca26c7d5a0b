import { type Command, givenNode, malformed } from "../../command.ts";

const MODES = { PERSISTENT: "persistent", PERSISTENT_RECURSIVE: "recursive" } as const;
type Mode = keyof typeof MODES;

export const addWatch: Command = {
  name: "addWatch",
  synopsis:
    "[-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - default is PERSISTENT_RECURSIVE",
  flags: [{ name: "m", takesValue: true }],
  summary: "Watches a node, or its descendants too, until the watch is removed.",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const mode = invocation.flags.value("m") ?? "PERSISTENT_RECURSIVE";
    if (invocation.operands.length !== 1 || !isMode(mode)) throw malformed(addWatch);
    const { path, client } = await givenNode(invocation);
    await invocation.connection.watches.addPersistent(client, path, MODES[mode]);
    return { path, mode };
  },
};

function isMode(text: string): text is Mode {
  return Object.hasOwn(MODES, text);
}
