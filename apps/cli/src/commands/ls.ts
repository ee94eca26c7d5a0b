import type { Children, Client, Watched } from "@zooid/client";
import { type Command, clientFor, FLAG_STAT, FLAG_WATCH, type Invocation, operand } from "../command.ts";
import type { JsonObject } from "../output.ts";
import { inOrder, visitDepthFirst } from "../subtree.ts";
import { statJson, statLines } from "../texts/stat-text.ts";
import { checkedPath } from "../texts/znode-path.ts";

export const ls: Command = {
  name: "ls",
  synopsis: "[-s] [-w] [-R] path",
  flags: [FLAG_STAT, FLAG_WATCH, { name: "R" }],
  summary: "Lists a node's children, or its descendants (-R).",
  operandsMin: 1,
  pathOperand: 0,
  async run(invocation) {
    const { flags, operands, output } = invocation;
    if (operands.length > 1) {
      output.note("'ls path [watch]' has been deprecated. Please use 'ls [-w] path' instead.");
    }
    const path = checkedPath(operand(invocation, 0));
    const client = await clientFor(invocation, path);
    const watch = flags.has("w") || operands.length > 1;
    return flags.has("R")
      ? await listAll(invocation, { client, path, watch })
      : await list(invocation, { client, path, watch });
  },
};

interface Listing {
  readonly client: Client;
  readonly path: string;
  readonly watch: boolean;
}

async function list(
  { connection, flags, output, signal }: Invocation,
  { client, path, watch }: Listing,
): Promise<JsonObject> {
  const found: Children & Partial<Watched> = await (watch
    ? client.children(path, { watch, signal })
    : client.children(path, { signal }));
  connection.watches.addOneShot("child", path, found.watch);
  const children = inOrder(found.names);
  output.line(`[${children.join(", ")}]`);
  if (flags.has("s")) output.lines(statLines(found.stat));
  return { path, children, stat: statJson(found.stat) };
}

async function listAll(
  { connection, output, signal }: Invocation,
  { client, path, watch }: Listing,
): Promise<JsonObject> {
  const isJson = output.format === "json";
  const paths: string[] = [];
  await visitDepthFirst(client, path, {
    signal,
    ...(watch ? { watches: connection.watches } : {}),
    visit: (found) => {
      output.line(found);
      if (isJson) paths.push(found);
    },
  });
  return { path, paths };
}
