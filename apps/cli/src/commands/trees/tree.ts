import { styleText } from "node:util";
import { type Children, type Client, isZkError } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { type Command, givenNode, wholeNumber } from "../../command.ts";
import type { JsonObject } from "../../output.ts";
import { inOrder } from "../../subtree.ts";
import { type DrawnNode, drawTree } from "../../texts/tree-drawing.ts";

/** Listings in flight ahead of their turn, for the children of one node. */
const AHEAD_MAX = 32;

export const tree: Command = {
  name: "tree",
  synopsis: "[-d depth] [path]",
  flags: [{ name: "d", takesValue: true }],
  summary: "Draws the tree below a path, with counts, ephemerals marked.",
  operandsMax: 1,
  kind: "own",
  pathOperand: 0,
  async run(invocation) {
    const { flags, operands, output, signal } = invocation;
    const depthMax = wholeNumber(flags, "d") ?? Number.POSITIVE_INFINITY;
    const { path, client } = await givenNode(invocation, operands[0] ?? "/");
    const root = await grow({ client, path, depthMax, signal }, path, await client.children(path, { signal }));
    const paintEphemeral = (text: string): string =>
      output.hasColors ? styleText("cyan", text, { validateStream: false }) : text;
    output.lines(drawTree(root, { paintEphemeral }));
    const { nodes, ephemerals } = count(root);
    output.line(`\n${nodes} ${nodes === 1 ? "node" : "nodes"}, ${ephemerals} of them ephemeral`);
    return { path, nodes, ephemerals, tree: treeJson(root) };
  },
};

interface Place {
  readonly client: Client;
  readonly path: string;
  /** Levels to draw below this node. */
  readonly depthMax: number;
  readonly signal: AbortSignal;
}

/**
 * A listed node with its descendants: one child after another, so that the number of waiting
 * listings is at most the depth of the tree times the bound.
 */
async function grow(place: Place, name: string, { names, stat }: Children): Promise<DrawnNode> {
  const { client, path, depthMax, signal } = place;
  const node = { name, isEphemeral: stat.ephemeralOwner !== 0n, childCount: names.length };
  if (depthMax === 0) return { ...node, children: undefined };
  const children: DrawnNode[] = [];
  const ahead: Promise<Children | "gone" | "forbidden">[] = [];
  const ordered = inOrder(names);
  for (const [index, child] of ordered.entries()) {
    for (const next of ordered.slice(index + ahead.length, index + AHEAD_MAX)) {
      ahead.push(list(client, joinPath(path, next), signal));
    }
    const listing = (await ahead.shift()) ?? "gone";
    if (listing === "forbidden") children.push(forbidden(child));
    else if (listing !== "gone") {
      children.push(
        await grow({ client, path: joinPath(path, child), depthMax: depthMax - 1, signal }, child, listing),
      );
    }
  }
  return { ...node, children };
}

function list(client: Client, path: string, signal: AbortSignal): Promise<Children | "gone" | "forbidden"> {
  const listing = client.children(path, { signal }).catch((error: unknown) => {
    if (isZkError(error, "NO_NODE")) return "gone" as const;
    if (isZkError(error, "NO_AUTH")) return "forbidden" as const;
    throw error;
  });
  // The first error in order is reported; the others are dropped.
  listing.catch(() => undefined);
  return listing;
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
