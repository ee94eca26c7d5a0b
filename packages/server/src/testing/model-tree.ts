import { type AclEntry, nodeKind, type Stat } from "@zooid/model";

/** A node as clients see it. */
export interface ModelNode {
  /** Null is not the same as none. */
  readonly data: string | null;
  readonly acl: readonly AclEntry[];
  readonly stat: Stat;
}

/** Every node by its path. */
export type Dump = ReadonlyMap<string, ModelNode>;

/**
 * A model of a server's content, from its answers alone: each write tells the outcome for its node,
 * and the rest follows from the protocol.
 */
export class ModelTree {
  readonly #nodes: Map<string, ModelNode>;

  constructor(beginning: Dump) {
    this.#nodes = new Map(beginning);
  }

  get dump(): Dump {
    return this.#nodes;
  }

  /** Nodes that a test made. */
  get paths(): readonly string[] {
    return [...this.#nodes.keys()].filter((path) => path !== "/" && !path.startsWith("/zookeeper"));
  }

  isLeaf(path: string): boolean {
    return this.#nodes.get(path)?.stat.numChildren === 0;
  }

  created(path: string, node: ModelNode): void {
    this.#nodes.set(path, node);
    this.#childrenChanged(path, node.stat.czxid, 1);
  }

  /** A write of its data or its access list. */
  changed(path: string, change: Partial<Pick<ModelNode, "data" | "acl">>, stat: Stat): void {
    const before = this.#nodes.get(path);
    if (before === undefined) throw new Error(`an answer says that ${path} changed, which is not there`);
    this.#nodes.set(path, { ...before, ...change, stat });
  }

  deleted(path: string, zxid: number): void {
    if (!this.#nodes.delete(path)) throw new Error(`an answer says that ${path} is deleted, which is not there`);
    this.#childrenChanged(path, zxid, -1);
  }

  /** A session ended: its ephemerals with it. */
  sessionEnded(owner: bigint, zxid: number): void {
    for (const [path, { stat }] of this.#nodes) if (stat.ephemeralOwner === owner) this.deleted(path, zxid);
  }

  /**
   * The same tree as a snapshot brings it back, without sessions: each of their nodes counts as
   * deleted, at no zxid.
   */
  withoutEphemerals(): ModelTree {
    const nodes = new Map([...this.#nodes].filter(([, { stat }]) => !isEphemeral(stat)));
    for (const [path, { stat }] of this.#nodes) {
      if (!isEphemeral(stat)) continue;
      const parent = parentOf(path);
      const node = nodes.get(parent);
      if (node === undefined) throw new Error(`${path} has no parent`);
      const { cversion, numChildren } = node.stat;
      nodes.set(parent, { ...node, stat: { ...node.stat, cversion: cversion + 1, numChildren: numChildren - 1 } });
    }
    return new ModelTree(nodes);
  }

  #childrenChanged(path: string, zxid: number, by: number): void {
    const parent = parentOf(path);
    const node = this.#nodes.get(parent);
    if (node === undefined) throw new Error(`${path} has no parent`);
    const { stat } = node;
    const after = { pzxid: zxid as Stat["pzxid"], cversion: stat.cversion + 1, numChildren: stat.numChildren + by };
    this.#nodes.set(parent, { ...node, stat: { ...stat, ...after } });
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function isEphemeral({ ephemeralOwner }: Stat): boolean {
  return nodeKind(Number(ephemeralOwner >> 32n), Number(ephemeralOwner & 0xffff_ffffn)) === "ephemeral";
}
