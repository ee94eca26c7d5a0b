import { type PastNode, StatOffset, type Zxid } from "@zooid/model/storage";
import { type ListedBase, readBase } from "../archive/archive-base.ts";
import { damaged } from "../archive/archive-format.ts";
import type { BaseManifest } from "../archive/base-manifest.ts";
import { parseAclContent } from "../archive/base-state.ts";
import { SnapshotDecoder, type SnapshotParts } from "../snapshots/snapshot-decoder.ts";
import { dataStart, isWhole, newStateNode, RowOffset, viewNode } from "../state/node-row.ts";
import type { StateNode } from "../state/state-store.ts";

const SLASH = 0x2f;

/**
 * Finds nodes in a base, which is read until all are found: some seconds for a million nodes.
 *
 * @returns in the order of the paths; undefined where there is none
 * @throws StoreError `DAMAGED`
 */
export function nodesInBase(
  base: ListedBase,
  manifest: BaseManifest,
  paths: readonly Buffer[],
): readonly (PastNode | undefined)[] {
  const finder = new NodeFinder(base.folder, paths);
  const decoder = new SnapshotDecoder(finder);
  for (const chunk of readBase(base, manifest)) {
    decoder.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    if (finder.isDone) return finder.found;
  }
  decoder.end();
  return finder.found;
}

export interface BaseChildren {
  readonly node: PastNode;
  readonly names: readonly string[];
}

/**
 * Finds a node and its children, for which the base is read to its end.
 *
 * @param namesBytesMax names with more bytes are "too-large"
 * @throws StoreError `DAMAGED`
 */
export function childrenInBase(
  base: ListedBase,
  manifest: BaseManifest,
  path: Buffer,
  namesBytesMax: number,
): BaseChildren | "too-large" | undefined {
  const names: string[] = [];
  let bytes = 0;
  const finder = new NodeFinder(base.folder, [path], (name) => {
    bytes += name.length;
    if (bytes <= namesBytesMax) names.push(name.toString("utf8"));
  });
  const decoder = new SnapshotDecoder(finder);
  for (const chunk of readBase(base, manifest)) {
    decoder.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    if (bytes > namesBytesMax) return "too-large";
  }
  decoder.end();
  const [node] = finder.found;
  return node === undefined ? undefined : { node, names };
}

/** A node on the way to those that are wanted. */
interface Step {
  /** Places of the paths that end here. */
  readonly wanted: number[];
  /** By name, as one character a byte. */
  readonly below: Map<string, Step>;
}

/** Follows paths from the root: a parent comes before its children. */
class NodeFinder implements SnapshotParts {
  readonly found: (PastNode | undefined)[];
  readonly #file: string;
  readonly #eachChild: ((name: Buffer) => void) | undefined;
  readonly #acls: string[] = [];
  /** Steps whose nodes may still come, by the id of their parent. */
  readonly #awaited = new Map<number, Step>();
  #left: number;
  readonly #node: StateNode = newStateNode();

  /** @param eachChild takes the name of each child of the wanted nodes; lent */
  constructor(file: string, paths: readonly Buffer[], eachChild?: (name: Buffer) => void) {
    this.#file = file;
    this.#eachChild = eachChild;
    this.found = paths.map(() => undefined);
    this.#left = paths.length;
    const above = newStep();
    for (const [place, path] of paths.entries()) {
      let step = above;
      for (const name of namesOf(path)) {
        const key = name.toString("latin1");
        const next = step.below.get(key) ?? newStep();
        step.below.set(key, next);
        step = next;
      }
      step.wanted.push(place);
    }
    // The root's parent.
    this.#awaited.set(0, above);
  }

  get isDone(): boolean {
    return this.#left === 0;
  }

  header(): void {}
  session(): void {}
  rest(): void {}

  acl(_id: number, content: string): void {
    this.#acls.push(content);
  }

  node(row: Buffer): void {
    const above = this.#awaited.get(row.readDoubleBE(RowOffset.parentId));
    if (above === undefined) return;
    const name = row.subarray(RowOffset.name, dataStart(row, 0));
    const step = above.below.get(name.toString("latin1"));
    const isChild = this.#eachChild !== undefined && above.wanted.length > 0;
    if (step === undefined && !isChild) return;
    const id = row.readDoubleBE(RowOffset.id);
    if (!isWhole(row)) throw damaged(this.#file, `the node ${id}`, "another sum");
    if (isChild) this.#eachChild?.(name);
    if (step === undefined) return;
    if (step.below.size > 0 || this.#eachChild !== undefined) this.#awaited.set(id, step);
    for (const place of step.wanted) {
      this.found[place] = this.#past(row);
      this.#left--;
    }
  }

  #past(row: Buffer): PastNode {
    const node = this.#node;
    const aclId = viewNode(row, node);
    const { data, hasData } = node;
    const stat = row.subarray(RowOffset.stat);
    const acl = parseAclContent(this.#acls[aclId - 1] ?? "[]");
    return {
      data: hasData ? Buffer.from(data.bytes.subarray(data.start, data.end)) : null,
      acl,
      czxid: long(stat, StatOffset.czxid) as Zxid,
      mzxid: long(stat, StatOffset.mzxid) as Zxid,
      ctimeMs: long(stat, StatOffset.ctime),
      mtimeMs: long(stat, StatOffset.mtime),
      version: stat.readInt32BE(StatOffset.version),
      aversion: stat.readInt32BE(StatOffset.aversion),
      ownerHigh: stat.readInt32BE(StatOffset.ephemeralOwner),
      ownerLow: stat.readInt32BE(StatOffset.ephemeralOwner + 4),
    };
  }
}

function long(stat: Buffer, offset: number): number {
  return Number(stat.readBigInt64BE(offset));
}

/** `/a/b` is the root, `a` and `b`. */
function namesOf(path: Buffer): readonly Buffer[] {
  const names: Buffer[] = [Buffer.alloc(0)];
  for (let start = 1; start < path.length; ) {
    const slash = path.indexOf(SLASH, start);
    const end = slash === -1 ? path.length : slash;
    names.push(path.subarray(start, end));
    start = end + 1;
  }
  return names;
}

function newStep(): Step {
  return { wanted: [], below: new Map() };
}
