import { type Acl, type Client, connect, type Stat } from "@zooid/client";
import { USER } from "./apache-load.ts";

export interface ServedNode {
  readonly data: string;
  readonly acl: Acl;
  readonly stat: Stat;
}

/** Each server has its own there. */
const OWN = /^\/zookeeper\/(?:config$|zooid|quota\/.*zookeeper_stats$)/;

/** Nodes that are read at once. */
const BATCH_SIZE = 500;

/** All nodes that a server serves, by path, but for those that each server has for itself. */
export async function servedTree(port: number): Promise<Map<string, ServedNode>> {
  await using zk = await connect(`127.0.0.1:${port}`);
  await zk.addAuth("digest", USER);
  const nodes = new Map<string, ServedNode>();
  const paths = ["/"];
  while (paths.length > 0) {
    const children = await Promise.all(paths.splice(0, BATCH_SIZE).map((path) => addNode(zk, path, nodes)));
    paths.push(...children.flat());
  }
  return nodes;
}

/** @returns the paths of its children */
async function addNode(zk: Client, path: string, nodes: Map<string, ServedNode>): Promise<readonly string[]> {
  const [{ data, stat }, { acl }, { names }] = await Promise.all([zk.get(path), zk.getAcl(path), zk.children(path)]);
  nodes.set(path, { data: data === null ? "null" : Buffer.from(data).toString("base64"), acl, stat: { ...stat } });
  const paths = names.map((name) => (path === "/" ? `/${name}` : `${path}/${name}`));
  return paths.filter((each) => !OWN.test(each));
}

/**
 * The same tree without ephemeral nodes. A parent keeps the number of children that it ever had,
 * from which servers compute `cversion`.
 */
export function withoutEphemerals(nodes: ReadonlyMap<string, ServedNode>): Map<string, ServedNode> {
  const gone = new Map<string, number>();
  const kept = new Map<string, ServedNode>();
  for (const [path, node] of nodes) {
    if (node.stat.ephemeralOwner === 0n) kept.set(path, node);
    else {
      const parent = path.slice(0, Math.max(1, path.lastIndexOf("/")));
      gone.set(parent, (gone.get(parent) ?? 0) + 1);
    }
  }
  for (const [path, count] of gone) {
    const node = kept.get(path);
    if (node === undefined) continue;
    const { cversion, numChildren } = node.stat;
    kept.set(path, { ...node, stat: { ...node.stat, numChildren: numChildren - count, cversion: cversion + count } });
  }
  return kept;
}

/**
 * The differences, one line each.
 *
 * @param names of the servers, of the expected tree and of the other one
 */
export function differences(
  expected: ReadonlyMap<string, ServedNode>,
  found: ReadonlyMap<string, ServedNode>,
  names: readonly [expected: string, found: string],
): string[] {
  const lines: string[] = [];
  for (const path of new Set([...expected.keys(), ...found.keys()])) {
    const [there, here] = [textOf(expected.get(path)), textOf(found.get(path))];
    if (there !== here) lines.push(`${path}: ${names[0]} has ${there}, ${names[1]} has ${here}`);
  }
  return lines;
}

function textOf(node: ServedNode | undefined): string {
  return JSON.stringify(node, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)) ?? "nothing";
}
