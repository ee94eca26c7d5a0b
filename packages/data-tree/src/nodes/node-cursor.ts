import {
  type Acl,
  type ByteSlice,
  copyBytes,
  emptySlice,
  type NodeView,
  STAT_BYTES,
  StatOffset,
  setSlice,
} from "@zooid/model";
import type { VirtualNode, VirtualNodes } from "../quotas/virtual-nodes.ts";
import type { AclTable } from "./acl-table.ts";
import { NO_NODE, ROOT } from "./node-row.ts";
import type { NodeStore } from "./node-store.ts";

/**
 * The tree's one view of a node, moved from node to node. Each field is looked up when it is read.
 */
export class NodeCursor implements NodeView {
  readonly childName: ByteSlice = emptySlice();
  readonly #store: NodeStore;
  readonly #acls: AclTable;
  readonly #virtualNodes: VirtualNodes;
  /** The node that is shown in place of the stored one, and its Stat then. */
  #shown: VirtualNode | undefined;
  readonly #shownStat = new DataView(new ArrayBuffer(STAT_BYTES));
  readonly #data: ByteSlice = emptySlice();
  readonly #name: ByteSlice = emptySlice();
  #node: number = ROOT;
  #child: number = NO_NODE;

  constructor(store: NodeStore, acls: AclTable, shown: VirtualNodes) {
    this.#store = store;
    this.#acls = acls;
    this.#virtualNodes = shown;
    this.#shown = undefined;
  }

  moveTo(node: number): this {
    this.#node = node;
    this.#shown = this.#virtualNodes.get(node);
    if (this.#shown !== undefined) this.#fillShownStat(this.#shown);
    return this;
  }

  get id(): number {
    return this.#node;
  }

  get name(): Readonly<ByteSlice> {
    this.#store.name(this.#node, this.#name);
    return this.#name;
  }

  get statView(): DataView {
    return this.#shown === undefined ? this.#store.statView(this.#node) : this.#shownStat;
  }

  get statStart(): number {
    return this.#shown === undefined ? this.#store.statStart(this.#node) : 0;
  }

  get hasData(): boolean {
    return this.#shown !== undefined || this.#store.hasData(this.#node);
  }

  get data(): Readonly<ByteSlice> {
    if (this.#shown === undefined) this.#store.data(this.#node, this.#data);
    else setSlice(this.#data, this.#shown.data, 0, this.#shown.data.length);
    return this.#data;
  }

  get acl(): Acl {
    return this.#acls.get(this.#store.aclId(this.#node));
  }

  get childCount(): number {
    return this.#store.childCount(this.#node);
  }

  firstChild(): boolean {
    return this.#show(this.#store.firstChild(this.#node));
  }

  nextChild(): boolean {
    return this.#show(this.#store.nextSibling(this.#child));
  }

  #fillShownStat({ data, version, mtimeMs }: VirtualNode): void {
    const stat = this.#shownStat;
    const start = this.#store.statStart(this.#node);
    copyBytes(this.#store.statBytes(this.#node), start, start + STAT_BYTES, new Uint8Array(stat.buffer), 0);
    stat.setInt32(StatOffset.dataLength, data.length);
    if (version !== undefined) stat.setInt32(StatOffset.version, version);
    if (mtimeMs !== undefined) stat.setBigInt64(StatOffset.mtime, BigInt(mtimeMs));
  }

  #show(child: number): boolean {
    this.#child = child;
    if (child === NO_NODE) return false;
    this.#store.name(child, this.childName);
    return true;
  }
}
