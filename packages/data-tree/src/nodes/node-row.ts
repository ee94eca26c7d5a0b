import { IntRows } from "./columns.ts";

/** No node: the index that none has. */
export const NO_NODE = 0;
/** The index of the root. */
export const ROOT = 1;

const PARENT = 0;
const NAME = 1;
const DATA = 2;
const DATA_HASH = 3;
const ACL = 4;
const ID_LOW = 5;
const ID_HIGH = 6;
const FIRST_CHILD = 7;
const NEXT_SIBLING = 8;
const PREVIOUS_SIBLING = 9;
const LISTED_BYTES = 10;
const ROW_LENGTH = 11;

/** A node's row of integers. The fields of a lookup are adjacent, so that it reads one cache line. */
export class NodeRows extends IntRows {
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
    return this.get(node, ACL);
  }

  setAclId(node: number, value: number): void {
    this.set(node, ACL, value);
  }

  idLow(node: number): number {
    return this.get(node, ID_LOW);
  }

  setIdLow(node: number, value: number): void {
    this.set(node, ID_LOW, value);
  }

  idHigh(node: number): number {
    return this.get(node, ID_HIGH);
  }

  setIdHigh(node: number, value: number): void {
    this.set(node, ID_HIGH, value);
  }

  firstChild(node: number): number {
    return this.get(node, FIRST_CHILD);
  }

  setFirstChild(node: number, value: number): void {
    this.set(node, FIRST_CHILD, value);
  }

  /** What the names of the children take in a listing, each with its length; below 4 GiB. */
  listedBytes(node: number): number {
    return this.get(node, LISTED_BYTES) >>> 0;
  }

  addListedBytes(node: number, change: number): void {
    this.set(node, LISTED_BYTES, (this.get(node, LISTED_BYTES) + change) | 0);
  }

  /** Of a free index: the next free one. */
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
