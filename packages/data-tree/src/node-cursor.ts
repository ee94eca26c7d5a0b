import { type Acl, type ByteSlice, emptySlice, type NodeView } from "@zooid/model";
import type { AclTable } from "./acl-table.ts";
import { NO_NODE, type NodeStore, ROOT } from "./node-store.ts";

/** The tree's one view of a node, moved from node to node. What it shows is looked up when it is asked for. */
export class NodeCursor implements NodeView {
  readonly childName: ByteSlice = emptySlice();
  readonly #store: NodeStore;
  readonly #acls: AclTable;
  readonly #data: ByteSlice = emptySlice();
  #node: number = ROOT;
  #child: number = NO_NODE;

  constructor(store: NodeStore, acls: AclTable) {
    this.#store = store;
    this.#acls = acls;
  }

  moveTo(node: number): this {
    this.#node = node;
    return this;
  }

  get id(): number {
    return this.#node;
  }

  get statBytes(): Uint8Array {
    return this.#store.statBytes(this.#node);
  }

  get statStart(): number {
    return this.#store.statStart(this.#node);
  }

  get hasData(): boolean {
    return this.#store.hasData(this.#node);
  }

  get data(): Readonly<ByteSlice> {
    this.#store.data(this.#node, this.#data);
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

  #show(child: number): boolean {
    this.#child = child;
    if (child === NO_NODE) return false;
    this.#store.name(child, this.childName);
    return true;
  }
}
