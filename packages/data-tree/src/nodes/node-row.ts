import { OPEN_ACL_ID } from "./acl-table.ts";
import { IntColumn, IntRows } from "./columns.ts";

/** No node: the index that none has. */
export const NO_NODE = 0;
/** The index of the root. */
export const ROOT = 1;

const PARENT = 0;
const NAME = 1;
const DATA = 2;
const DATA_HASH = 3;
const ID_LOW = 4;
const NEXT_SIBLING = 5;
const PREVIOUS_SIBLING = 6;
const ROW_LENGTH = 7;

/**
 * Integer fields of a node. Fields that a lookup reads are adjacent, in one cache line. Fields that
 * are zero for most nodes are separate columns, which allocate a page only for the first non-zero
 * value: a leaf with the open ACL takes 28 bytes instead of 44.
 */
export class NodeRows extends IntRows {
  readonly #idHighs = new IntColumn();
  /** ACL id minus OPEN_ACL_ID, so that the open ACL is zero. */
  readonly #aclIds = new IntColumn();
  readonly #firstChildren = new IntColumn();
  readonly #listedBytes = new IntColumn();

  constructor() {
    super(ROW_LENGTH);
  }

  parent(node: number): number {
    return this.get(node, PARENT);
  }

  setParent(node: number, value: number): void {
    this.set(node, PARENT, value);
  }

  /** Where the name lies, see {@link DataPages}; 0 for the root. */
  nameRef(node: number): number {
    return this.get(node, NAME);
  }

  setNameRef(node: number, value: number): void {
    this.set(node, NAME, value);
  }

  dataRef(node: number): number {
    return this.get(node, DATA);
  }

  setDataRef(node: number, value: number): void {
    this.set(node, DATA, value);
  }

  dataHash(node: number): number {
    return this.get(node, DATA_HASH);
  }

  setDataHash(node: number, value: number): void {
    this.set(node, DATA_HASH, value);
  }

  aclId(node: number): number {
    return this.#aclIds.get(node) + OPEN_ACL_ID;
  }

  setAclId(node: number, value: number): void {
    this.#aclIds.set(node, value - OPEN_ACL_ID);
  }

  /** The id that no other node ever has. */
  id(node: number): number {
    return this.#idHighs.get(node) * 2 ** 32 + (this.get(node, ID_LOW) >>> 0);
  }

  setId(node: number, id: number): void {
    this.set(node, ID_LOW, id | 0);
    this.#idHighs.set(node, Math.floor(id / 2 ** 32));
  }

  firstChild(node: number): number {
    return this.#firstChildren.get(node);
  }

  setFirstChild(node: number, value: number): void {
    this.#firstChildren.set(node, value);
  }

  /** The bytes of the children's names in a listing, each with its length; below 4 GiB. */
  listedBytes(node: number): number {
    return this.#listedBytes.get(node) >>> 0;
  }

  addListedBytes(node: number, change: number): void {
    this.#listedBytes.set(node, (this.#listedBytes.get(node) + change) | 0);
  }

  /** The node's next sibling; for a free index, the next free one. */
  nextSibling(node: number): number {
    return this.get(node, NEXT_SIBLING);
  }

  setNextSibling(node: number, value: number): void {
    this.set(node, NEXT_SIBLING, value);
  }

  previousSibling(node: number): number {
    return this.get(node, PREVIOUS_SIBLING);
  }

  setPreviousSibling(node: number, value: number): void {
    this.set(node, PREVIOUS_SIBLING, value);
  }
}
