/** A model of servers that change while they are read, for the comparison of two sides. */
import { seededRandom } from "@zooid/model/testing/seeded-random";
import type { NodeState, Observed } from "../migrate/compare/node-state.ts";
import type { NodeVisitor, OtherReading, OtherSide, ServerSide } from "../migrate/compare/sides.ts";

export type ModelTree = ReadonlyMap<string, NodeState>;
/** Makes the tree that a side has in place of another one. */
export type Corrupt = (tree: ModelTree) => ModelTree;

const EPOCH_START = 5 * 2 ** 32;
const HOT = 12;
const COLD = 12;
const ACLS = ["[[31,world,anyone]]", "[[1,world,anyone]]", "[[31,digest,a:b]]"];

/** All trees that an ensemble has had, by the number of its transactions. */
export class ChangingEnsemble {
  readonly random: () => number;
  readonly #trees: ModelTree[];
  /** Whether reads let it change. */
  isQuiet = false;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    const tree = new Map<string, NodeState>([["/", born(0)]]);
    this.#trees = [tree];
    create(tree, "/cold", EPOCH_START);
    create(tree, "/hot", EPOCH_START);
    for (let i = 0; i < COLD; i++) create(tree, `/cold/${i}`, EPOCH_START);
    for (let i = 0; i < this.below(100); i++) this.change();
  }

  get last(): number {
    return this.#trees.length - 1;
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  treeAt(at: number): ModelTree {
    return this.#trees[at] ?? new Map();
  }

  zxidAt(at: number): number {
    return EPOCH_START + at;
  }

  /** As time passes. */
  pass(): void {
    if (!this.isQuiet && this.random() < 0.3) this.change();
  }

  change(): void {
    const tree = new Map(this.treeAt(this.last));
    const zxid = this.zxidAt(this.last + 1);
    const path = `/hot/${this.below(HOT)}`;
    const node = tree.get(path);
    if (node === undefined) create(tree, path, zxid);
    else if (this.random() < 0.2) remove(tree, path, zxid);
    else if (this.random() < 0.4) {
      const acl = ACLS[this.below(ACLS.length)] ?? "";
      tree.set(path, { ...node, acl, aversion: node.aversion + 1 });
    } else {
      const data = { byteCount: this.below(3) - 1, sha256: String(this.below(3)) };
      tree.set(path, { ...node, data, version: node.version + 1, mzxid: zxid, mtimeMs: zxid });
    }
    this.#trees.push(tree);
  }
}

function born(zxid: number): NodeState {
  return {
    czxid: zxid,
    ctimeMs: zxid,
    owner: 0n,
    version: 0,
    mzxid: zxid,
    mtimeMs: zxid,
    data: { byteCount: 0, sha256: "" },
    aversion: 0,
    acl: ACLS[0],
    pzxid: zxid,
    creates: 0,
  };
}

function create(tree: Map<string, NodeState>, path: string, zxid: number): void {
  tree.set(path, born(zxid));
  const parent = tree.get(parentOf(path));
  if (parent !== undefined) tree.set(parentOf(path), { ...parent, pzxid: zxid, creates: parent.creates + 2 });
}

function remove(tree: Map<string, NodeState>, path: string, zxid: number): void {
  tree.delete(path);
  const parent = tree.get(parentOf(path));
  if (parent !== undefined) tree.set(parentOf(path), { ...parent, pzxid: zxid });
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** A server that may lag, and that is read node by node. */
export class ModelServer implements ServerSide {
  readonly name: string;
  readonly #ensemble: ChangingEnsemble;
  readonly #unread: ReadonlySet<string>;
  #at: number;

  constructor(name: string, ensemble: ChangingEnsemble, unread: readonly string[] = []) {
    this.name = name;
    this.#ensemble = ensemble;
    this.#unread = new Set(unread);
    this.#at = Math.max(0, ensemble.last - ensemble.below(5));
  }

  get zxid(): number {
    return this.#ensemble.zxidAt(this.#at);
  }

  async readAll(visitor: NodeVisitor): Promise<void> {
    const paths = ["/"];
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
      const found = this.#read(path);
      if (found === "absent") continue;
      if (found === "unread") {
        visitor.unread(path);
        continue;
      }
      visitor.node(path, found);
      this.#pass();
      for (const child of this.#ensemble.treeAt(this.#at).keys()) {
        if (child !== "/" && parentOf(child) === path) paths.push(child);
      }
      await Promise.resolve();
    }
  }

  async readSome(paths: readonly string[]): Promise<ReadonlyMap<string, Observed>> {
    await Promise.resolve();
    return new Map(paths.map((path) => [path, this.#read(path)]));
  }

  reach(zxid: number): Promise<boolean> {
    while (this.zxid < zxid && this.#at < this.#ensemble.last) this.#at++;
    return Promise.resolve(this.zxid >= zxid);
  }

  /** Data and list are read one after the other, of one and the same node. */
  #read(path: string): Observed {
    this.#pass();
    if (this.#unread.has(path)) return "unread";
    const first = this.#ensemble.treeAt(this.#at).get(path);
    this.#pass();
    const second = this.#ensemble.treeAt(this.#at).get(path);
    if (first === undefined || second === undefined) return "absent";
    return first.czxid === second.czxid ? { ...first, acl: second.acl, aversion: second.aversion } : second;
  }

  #pass(): void {
    this.#ensemble.pass();
    const { last } = this.#ensemble;
    if (this.#ensemble.isQuiet) this.#at = last;
    else if (this.#ensemble.random() < 0.5) this.#at = Math.min(last, this.#at + 1 + this.#ensemble.below(3));
  }
}

/** A follower that may lag, and whose states are of one zxid each. */
export class ModelFollower implements OtherSide {
  readonly name = "follower";
  readonly isAtOneZxid: boolean;
  readonly #ensemble: ChangingEnsemble;
  readonly #corrupt: Corrupt;
  /** Added to its zxids: a history of its own is in a later epoch. */
  readonly #above: number;
  #at: number;

  constructor(ensemble: ChangingEnsemble, corrupt: Corrupt = (tree) => tree, above = 0) {
    this.#ensemble = ensemble;
    this.#corrupt = corrupt;
    this.#above = above;
    this.isAtOneZxid = true;
    this.#at = Math.max(0, ensemble.last - ensemble.below(5));
  }

  readAll(visitor: NodeVisitor): Promise<number> {
    for (const [path, state] of this.#state()) visitor.node(path, state);
    return Promise.resolve(this.#ensemble.zxidAt(this.#at) + this.#above);
  }

  readSome(paths: ReadonlySet<string>): Promise<OtherReading> {
    const nodes = new Map([...this.#state()].filter(([path]) => paths.has(path)));
    return Promise.resolve({ zxid: this.#ensemble.zxidAt(this.#at) + this.#above, nodes });
  }

  reach(zxid: number): Promise<void> {
    while (this.#ensemble.zxidAt(this.#at) < zxid) this.#at++;
    return Promise.resolve();
  }

  #state(): ModelTree {
    this.#ensemble.pass();
    const { last } = this.#ensemble;
    if (this.#ensemble.isQuiet) this.#at = last;
    else this.#at = Math.min(last, this.#at + this.#ensemble.below(3));
    return this.#corrupt(this.#ensemble.treeAt(this.#at));
  }
}
