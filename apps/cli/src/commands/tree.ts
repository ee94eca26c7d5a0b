import { styleText } from "node:util";
import { type Client, isZkError } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { usageError } from "../cli-error.ts";
import { type Command, clientFor } from "../command.ts";
import type { Flags } from "../command-flags.ts";
import type { JsonObject } from "../output.ts";
import { inOrder } from "../subtree.ts";
import { type DrawnNode, drawTree } from "../tree-drawing.ts";
import { checkedPath } from "../znode-path.ts";

/** Listings on their way for the children of one node. */
const IN_FLIGHT_MAX = 32;

export const tree: Command = {
  name: "tree",
  synopsis: "[-d depth] [path]",
  flags: [{ name: "d", takesValue: true }],
  summary: "Draws what lies below a path, ephemerals marked, with counts.",
  kind: "own",
  pathOperand: 0,
  async run(invocation) {
    const { flags, operands, output, signal } = invocation;
    const depthMax = readDepth(flags);
    const path = checkedPath(operands[0] ?? "/");
    const client = await clientFor(invocation, path);
    const root = await read({ client, path, name: path, depthMax, signal });
    const paintEphemeral = (text: string): string =>
      output.hasColors ? styleText("cyan", text, { validateStream: false }) : text;
    output.lines(drawTree(root, { paintEphemeral }));
    const { nodes, ephemerals } = count(root);
    output.line(`\n${nodes} nodes, ${ephemerals} of them ephemeral`);
    return { path, nodes, ephemerals, tree: treeJson(root) };
  },
};

interface Place {
  readonly client: Client;
  readonly path: string;
  readonly name: string;
  readonly depthMax: number;
  readonly signal: AbortSignal;
}

async function read({ client, path, name, depthMax, signal }: Place): Promise<DrawnNode> {
  const { names, stat } = await client.children(path, { signal });
  const node = { name, isEphemeral: stat.ephemeralOwner !== 0n, childCount: names.length };
  if (depthMax === 0) return { ...node, children: undefined };
  const children: DrawnNode[] = [];
  const waiting = inOrder(names);
  while (waiting.length > 0) {
    const batch = waiting.splice(0, IN_FLIGHT_MAX).map((child) =>
      read({ client, path: joinPath(path, child), name: child, depthMax: depthMax - 1, signal }).catch(
        (error: unknown) => {
          // Gone since it was listed.
          if (isZkError(error, "NO_NODE")) return undefined;
          if (isZkError(error, "NO_AUTH")) return forbidden(child);
          throw error;
        },
      ),
    );
    for (const child of await Promise.all(batch)) if (child !== undefined) children.push(child);
  }
  return { ...node, children };
}

function forbidden(name: string): DrawnNode {
  return { name, isEphemeral: false, childCount: 0, isForbidden: true, children: undefined };
}

function count(node: DrawnNode): { readonly nodes: number; readonly ephemerals: number } {
  let nodes = 1;
  let ephemerals = node.isEphemeral ? 1 : 0;
  for (const child of node.children ?? []) {
    const below = count(child);
    nodes += below.nodes;
    ephemerals += below.ephemerals;
  }
  return { nodes, ephemerals };
}

function treeJson({ name, isEphemeral, childCount, isForbidden, children }: DrawnNode): JsonObject {
  if (isForbidden === true) return { name, forbidden: true };
  return {
    name,
    ephemeral: isEphemeral,
    childCount,
    ...(children === undefined ? {} : { children: children.map(treeJson) }),
  };
}

function readDepth(flags: Flags): number {
  const text = flags.value("d");
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (!/^\d+$/.test(text)) throw usageError(`-d takes a whole number, found ${JSON.stringify(text)}`);
  return Number(text);
}
