import { type Acl, emptySlice, type PastNode, StatOffset, type Zxid } from "@zooid/model/storage";
import { SnapshotDecoder, type SnapshotParts } from "../snapshots/snapshot-decoder.ts";
import { dataStart, isWhole, RowOffset, viewNode } from "../state/node-row.ts";
import type { StateNode } from "../state-store.ts";
import { type BaseManifest, type ListedBase, readBase } from "./archive-base.ts";
import { damaged } from "./archive-format.ts";

const SLASH = 0x2f;

/**
 * Finds one node in a base, which is read up to there: some seconds for a million nodes.
 *
 * @returns undefined where there is none
 * @throws StoreError `DAMAGED`
 */
export function nodeInBase(base: ListedBase, manifest: BaseManifest, path: Buffer): PastNode | undefined {
  const finder = new NodeFinder(base.folder, path);
  const decoder = new SnapshotDecoder(finder);
  for (const chunk of readBase(base, manifest)) {
    decoder.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    if (finder.found !== undefined) return finder.found;
  }
  decoder.end();
  return undefined;
}

export interface BaseChildren {
  readonly node: PastNode;
  readonly names: readonly string[];
}

/**
 * The same for a node and its children, for which the base is read to its end.
 *
 * @param namesBytesMax names with more bytes are "too-large"
 */
export function childrenInBase(
  base: ListedBase,
  manifest: BaseManifest,
  path: Buffer,
  namesBytesMax: number,
): BaseChildren | "too-large" | undefined {
  const finder = new NodeFinder(base.folder, path);
  const decoder = new SnapshotDecoder(finder);
  const names: string[] = [];
  let bytes = 0;
  finder.eachChild = (name) => {
    bytes += name.length;
    if (bytes <= namesBytesMax) names.push(name.toString("utf8"));
  };
  for (const chunk of readBase(base, manifest)) {
    decoder.add(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    if (bytes > namesBytesMax) return "too-large";
  }
  decoder.end();
  return finder.found === undefined ? undefined : { node: finder.found, names };
}

/** Follows the path from the root: a parent comes before its children. */
class NodeFinder implements SnapshotParts {
  found: PastNode | undefined;
  /** Takes the name of each child of the node; lent. */
  eachChild: (name: Buffer) => void = () => {};
  readonly #file: string;
  /** The names on the way, the root's empty one first. */
  readonly #names: readonly Buffer[];
  readonly #acls: string[] = [];
  readonly #node: StateNode = {
    id: 0,
    parentId: 0,
    name: emptySlice(),
    hasData: false,
    data: emptySlice(),
    stat: emptySlice(),
    acl: [],
  };
  /** The node that was reached, and how many names led to it. */
  #id = 0;
  #depth = 0;

  constructor(file: string, path: Buffer) {
    this.#file = file;
    this.#names = namesOf(path);
  }

  header(): void {}
  session(): void {}
  rest(): void {}

  acl(_id: number, content: string): void {
    this.#acls.push(content);
  }

  node(row: Buffer): void {
    if (row.readDoubleBE(RowOffset.parentId) !== this.#id) return;
    const name = row.subarray(RowOffset.name, dataStart(row, 0));
    const wanted = this.#names[this.#depth];
    if (wanted !== undefined && !name.equals(wanted)) return;
    const id = row.readDoubleBE(RowOffset.id);
    if (!isWhole(row)) throw damaged(this.#file, `the node ${id}`, "another sum");
    if (wanted === undefined) return this.eachChild(name);
    this.#id = id;
    this.#depth++;
    if (this.#depth === this.#names.length) this.found = this.#past(row);
  }

  #past(row: Buffer): PastNode {
    const node = this.#node;
    const aclId = viewNode(row, node);
    const { data, hasData } = node;
    const stat = row.subarray(RowOffset.stat);
    const entries = JSON.parse(this.#acls[aclId - 1] ?? "[]") as [number, string, string][];
    const acl: Acl = entries.map(([perms, scheme, id]) => ({ perms, scheme, id }));
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
