import { ErrorCode } from "@zooid/model";
import type { NodeRead } from "../clients/requests.ts";
import { TENANT_PATH } from "../clients/tenant.ts";
import type { Answer, SeenStat } from "../cluster/answers.ts";
import { isBelow, type ModelTree } from "./tree.ts";

interface PastNode {
  readonly data: string;
  readonly stat: SeenStat;
  readonly children: readonly string[];
}

interface NodeVersion {
  readonly zxid: number;
  readonly node: PastNode | undefined;
}

/**
 * The model's tree at every zxid: servers that lag are compared with the past that they
 * show.
 */
export class NodeVersions {
  readonly #versions = new Map<string, NodeVersion[]>();

  /** A node was created, changed or deleted at a zxid. */
  keep(model: ModelTree, path: string, zxid: number): void {
    const node = model.read(path);
    // Only tenants read these, and their answers are not predicted: a list for each change would
    // take too much memory.
    const isHidden = node !== undefined && (path === TENANT_PATH || isBelow(path, TENANT_PATH));
    this.#add(path, { zxid, node: isHidden ? { ...node, children: [] } : node });
  }

  /** At a zxid the nodes become what they were at an earlier one. */
  restore(zxid: number, pastZxid: number): void {
    for (const path of this.#versions.keys()) this.restoreNode(path, zxid, pastZxid);
  }

  restoreNode(path: string, zxid: number, pastZxid: number): void {
    const versions = this.#versions.get(path);
    if (versions?.some((version) => version.zxid === zxid) === true) return;
    const node = this.nodeAt(path, pastZxid);
    if (node !== this.nodeAt(path, zxid)) this.#add(path, { zxid, node });
  }

  #add(path: string, version: NodeVersion): void {
    const versions = this.#versions.get(path);
    if (versions === undefined) {
      this.#versions.set(path, [version]);
      return;
    }
    let at = versions.length;
    while ((versions[at - 1]?.zxid ?? 0) > version.zxid) at--;
    versions.splice(at, 0, version);
  }

  /** A node as it was when a transaction had been applied and no later one. */
  nodeAt(path: string, zxid: number): PastNode | undefined {
    const versions = this.#versions.get(path);
    if (versions === undefined) return undefined;
    for (let i = versions.length - 1; i >= 0; i--) {
      const version = versions[i];
      if (version !== undefined && version.zxid <= zxid) return version.node;
    }
    return undefined;
  }

  /** The answer to a read at a zxid. */
  read({ kind, path }: NodeRead, zxid: number): Answer {
    const node = this.nodeAt(path, zxid);
    if (node === undefined) return { kind: "header", code: ErrorCode.NO_NODE };
    const { data, stat, children } = node;
    if (kind === "data") return { kind, data, stat };
    return kind === "exists" ? { kind: "stat", stat } : { kind, children };
  }

  /** A session's ephemerals whose path begins with a prefix, sorted. */
  ephemerals(session: bigint, prefix: string, zxid: number): readonly string[] {
    const paths: string[] = [];
    for (const path of this.#versions.keys()) {
      if (path.startsWith(prefix) && this.nodeAt(path, zxid)?.stat.owner === session) paths.push(path);
    }
    return paths.sort();
  }

  /** How many nodes lay below a path; undefined where there was none. */
  countBelow(path: string, zxid: number): number | undefined {
    if (this.nodeAt(path, zxid) === undefined) return undefined;
    const prefix = path === "/" ? "/" : `${path}/`;
    let count = 0;
    for (const other of this.#versions.keys()) {
      if (other !== path && other.startsWith(prefix) && this.nodeAt(other, zxid) !== undefined) count++;
    }
    return count;
  }
}
