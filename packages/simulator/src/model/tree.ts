import { ErrorCode, parentPath, sequenceSuffix } from "@zooid/model";
import type { Answer, PartAnswer, SeenStat } from "../cluster/answers.ts";
import type { Effect, PlainOp, Reaped, TreeWrite, Write } from "./writes.ts";

interface ModelNode {
  readonly czxid: number;
  readonly owner: bigint;
  readonly reaped: Reaped | undefined;
  readonly ctimeMs: number;
  mtimeMs: number;
  data: string;
  mzxid: number;
  pzxid: number;
  version: number;
  aversion: number;
  /** The identity that alone may change it; undefined: any. */
  acl: string | undefined;
  created: number;
  readonly children: Set<string>;
}

type NewNode = Pick<ModelNode, "data" | "owner" | "reaped" | "acl"> & { readonly path: string };

const RESERVED = new Set(["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"]);

/**
 * The model of a ZooKeeper tree, kept simple: one object for each node, one function for each rule,
 * nothing pending, nothing fast. It applies the committed requests in zxid order and predicts every
 * answer.
 */
export class ModelTree {
  readonly #nodes = new Map<string, ModelNode>();
  /** The time of the current transaction. */
  #timeMs = 0;
  /** The identity of its client. */
  #identity: string | undefined;
  #effects: Effect[] = [];

  constructor() {
    for (const path of RESERVED) {
      this.#nodes.set(path, {
        czxid: 0,
        owner: 0n,
        reaped: undefined,
        ctimeMs: 0,
        mtimeMs: 0,
        data: "",
        mzxid: 0,
        pzxid: 0,
        version: 0,
        aversion: 0,
        acl: undefined,
        created: 0,
        children: new Set(),
      });
    }
    this.#node("/").children.add("zookeeper");
    this.#node("/zookeeper").children.add("quota").add("config");
  }

  copy(): ModelTree {
    const copy = new ModelTree();
    copy.#nodes.clear();
    for (const [path, node] of this.#nodes) copy.#nodes.set(path, { ...node, children: new Set(node.children) });
    return copy;
  }

  /** Every node but the reserved ones, for comparison with a real tree. */
  *paths(): IterableIterator<string> {
    for (const path of this.#nodes.keys()) if (!RESERVED.has(path)) yield path;
  }

  read(
    path: string,
  ): { readonly data: string; readonly stat: SeenStat; readonly children: readonly string[] } | undefined {
    const node = this.#nodes.get(path);
    if (node === undefined) return undefined;
    return { data: node.data, stat: statOf(node), children: [...node.children].sort() };
  }

  /** The effects since the last call. */
  takeEffects(): readonly Effect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  /** Owners of ephemeral nodes. */
  owners(): ReadonlySet<bigint> {
    return new Set(this.ephemeralCounts().keys());
  }

  /** How many ephemerals each session has that has one. */
  ephemeralCounts(): ReadonlyMap<bigint, number> {
    const counts = new Map<bigint, number>();
    for (const { owner } of this.#nodes.values()) if (owner !== 0n) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    return counts;
  }

  /**
   * Removes an ephemeral with its session.
   *
   * @returns false where the session has no such ephemeral
   */
  removeOwned(session: bigint, path: string, zxid: number): boolean {
    if (this.#nodes.get(path)?.owner !== session) return false;
    this.#remove(path, zxid);
    return true;
  }

  /** Removes a container or TTL node. @returns undefined where it is neither empty nor expired */
  reap(path: string, zxid: number, timeMs: number): Reaped | undefined {
    const node = this.#nodes.get(path);
    if (node === undefined || !isDue(node, timeMs)) return undefined;
    this.#remove(path, zxid);
    return node.reaped;
  }

  /** A container or TTL node that a leader with this wall clock removes. */
  dueNode(wallMs: number): string | undefined {
    for (const [path, node] of this.#nodes) if (isDue(node, wallMs)) return path;
    return undefined;
  }

  /**
   * Applies a committed request and predicts its answer. @param identity that of its client, if it
   * has one
   */
  apply(request: TreeWrite, session: bigint, zxid: number, timeMs: number, identity?: string): Answer {
    this.#timeMs = timeMs;
    this.#identity = identity;
    switch (request.kind) {
      case "one": {
        const part = this.#write(request.write, session, zxid);
        if (part.kind === "error") return { kind: "header", code: part.code };
        return part.kind === "empty" ? { kind: "header", code: ErrorCode.OK } : part;
      }
      default:
        return { kind: "multi", parts: this.#multi(request.writes, session, zxid) };
    }
  }

  /** Applies an op of a transaction as it is. @returns false where it does not apply */
  applyOp(op: PlainOp, zxid: number, timeMs: number): boolean {
    this.#timeMs = timeMs;
    const node = this.#nodes.get(op.path);
    switch (op.kind) {
      case "create": {
        if (node !== undefined || !this.#nodes.has(parentPath(op.path))) return false;
        this.#make({ ...op, reaped: undefined, acl: undefined }, zxid);
        return true;
      }
      case "delete":
        if (node === undefined || node.children.size > 0) return false;
        this.#remove(op.path, zxid);
        return true;
      case "set":
        if (node === undefined) return false;
        this.#set(node, op.path, op.data, zxid);
        return true;
      default:
        if (node === undefined) return false;
        node.aversion++;
        return true;
    }
  }

  #multi(writes: readonly Write[], session: bigint, zxid: number): readonly PartAnswer[] {
    const before = new Map(
      [...this.#nodes].map(([path, node]) => [path, { ...node, children: new Set(node.children) }]),
    );
    const parts: PartAnswer[] = [];
    const effectsBefore = this.#effects.length;
    for (const [i, write] of writes.entries()) {
      const part = this.#write(write, session, zxid);
      if (part.kind === "error") {
        this.#nodes.clear();
        for (const [path, node] of before) this.#nodes.set(path, node);
        this.#effects.length = effectsBefore;
        return writes.map((_, j) => ({
          kind: "error",
          code: j < i ? ErrorCode.OK : j === i ? part.code : ErrorCode.RUNTIME_INCONSISTENCY,
        }));
      }
      parts.push(part);
    }
    return parts;
  }

  #write(write: Write, session: bigint, zxid: number): PartAnswer {
    switch (write.kind) {
      case "create":
        return this.#create(write, session, zxid);
      case "delete":
        return this.#delete(write.path, write.version, zxid);
      case "setAcl":
        return this.#setAcl(write);
      case "set": {
        const node = this.#nodes.get(write.path);
        if (node === undefined) return refuse(ErrorCode.NO_NODE);
        if (!this.#mayChange(node)) return refuse(ErrorCode.NO_AUTH);
        if (write.version !== -1 && write.version !== node.version) return refuse(ErrorCode.BAD_VERSION);
        this.#set(node, write.path, write.data, zxid);
        return { kind: "stat", stat: statOf(node) };
      }
      default: {
        const node = this.#nodes.get(write.path);
        if (node === undefined) return refuse(ErrorCode.NO_NODE);
        return write.version !== -1 && write.version !== node.version
          ? refuse(ErrorCode.BAD_VERSION)
          : { kind: "empty" };
      }
    }
  }

  #setAcl({ path, isOwn, version }: Extract<Write, { kind: "setAcl" }>): PartAnswer {
    const node = this.#nodes.get(path);
    if (node === undefined) return refuse(ErrorCode.NO_NODE);
    if (version !== -1 && version !== node.aversion) return refuse(ErrorCode.BAD_VERSION);
    node.acl = isOwn ? this.#identity : undefined;
    node.aversion++;
    this.#effects.push({ kind: "acl", path });
    return { kind: "stat", stat: statOf(node) };
  }

  #mayChange({ acl }: ModelNode): boolean {
    return acl === undefined || acl === this.#identity;
  }

  #create(write: Extract<Write, { kind: "create" }>, session: bigint, zxid: number): PartAnswer {
    const parent = this.#nodes.get(parentPath(write.path));
    if (parent === undefined) return refuse(ErrorCode.NO_NODE);
    if (!this.#mayChange(parent)) return refuse(ErrorCode.NO_AUTH);
    const path = write.sequential ? `${write.path}${sequenceSuffix(parent.created)}` : write.path;
    if (this.#nodes.has(path)) return refuse(ErrorCode.NODE_EXISTS);
    if (parent.owner !== 0n) return refuse(ErrorCode.NO_CHILDREN_FOR_EPHEMERALS);
    const owner = write.ephemeral ? session : 0n;
    const acl = write.isOwn === true ? this.#identity : undefined;
    const node = this.#make({ path, data: write.data, owner, reaped: write.reaped, acl }, zxid);
    return write.reaped === undefined ? { kind: "path", path } : { kind: "made", path, stat: statOf(node) };
  }

  #set(node: ModelNode, path: string, data: string, zxid: number): void {
    node.data = data;
    node.version++;
    node.mzxid = zxid;
    node.mtimeMs = this.#timeMs;
    this.#effects.push({ kind: "changed", path });
  }

  #make({ path, data, owner, reaped, acl }: NewNode, zxid: number): ModelNode {
    const parent = this.#node(parentPath(path));
    const node: ModelNode = {
      czxid: zxid,
      owner,
      reaped,
      ctimeMs: this.#timeMs,
      mtimeMs: this.#timeMs,
      data,
      mzxid: zxid,
      pzxid: zxid,
      version: 0,
      aversion: 0,
      acl,
      created: 0,
      children: new Set(),
    };
    this.#nodes.set(path, node);
    parent.children.add(path.slice(path.lastIndexOf("/") + 1));
    parent.created++;
    parent.pzxid = zxid;
    this.#effects.push({ kind: "created", path });
    return node;
  }

  #delete(path: string, version: number, zxid: number): PartAnswer {
    const parent = this.#nodes.get(parentPath(path));
    if (parent !== undefined && !this.#mayChange(parent)) return refuse(ErrorCode.NO_AUTH);
    const node = this.#nodes.get(path);
    if (node === undefined) return refuse(ErrorCode.NO_NODE);
    if (version !== -1 && version !== node.version) return refuse(ErrorCode.BAD_VERSION);
    if (node.children.size > 0) return refuse(ErrorCode.NOT_EMPTY);
    this.#remove(path, zxid);
    return { kind: "empty" };
  }

  #remove(path: string, zxid: number): void {
    const parent = this.#node(parentPath(path));
    parent.children.delete(path.slice(path.lastIndexOf("/") + 1));
    parent.pzxid = zxid;
    this.#nodes.delete(path);
    this.#effects.push({ kind: "deleted", path });
  }

  #node(path: string): ModelNode {
    const node = this.#nodes.get(path);
    if (node === undefined) throw new Error(`the model has no ${path}`);
    return node;
  }
}

export function isBelow(path: string, ancestor: string): boolean {
  return path !== ancestor && path.startsWith(ancestor === "/" ? "/" : `${ancestor}/`);
}

function isDue({ reaped, children, created, mtimeMs }: ModelNode, timeMs: number): boolean {
  if (reaped === undefined || children.size > 0) return false;
  return reaped.kind === "container" ? created > 0 : timeMs - mtimeMs > reaped.ttlMs;
}

function refuse(code: number): PartAnswer {
  return { kind: "error", code };
}

function statOf(node: ModelNode): SeenStat {
  return {
    czxid: node.czxid,
    mzxid: node.mzxid,
    ctime: node.ctimeMs,
    mtime: node.mtimeMs,
    pzxid: node.pzxid,
    version: node.version,
    cversion: 2 * node.created - node.children.size,
    aversion: node.aversion,
    owner: node.owner,
    dataLength: Buffer.byteLength(node.data),
    numChildren: node.children.size,
  };
}
