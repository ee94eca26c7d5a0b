import type { ByteSlice } from "../byte-slice.ts";
import type { Acl } from "./acl-entry.ts";

/**
 * One znode as the tree holds it, seen through a cursor that the tree moves from node to node. It
 * is valid until the call that handed it out returns; it must not be kept.
 */
export interface NodeView {
  /** A number that no other node has as long as this one lives. */
  readonly id: number;
  /** Empty for the root. */
  readonly name: Readonly<ByteSlice>;
  /**
   * A view and the place in it where the node's Stat lies, 68 bytes in wire form (see
   * `StatOffset`).
   */
  readonly statView: DataView;
  readonly statStart: number;
  /** False is ZooKeeper's null. */
  readonly hasData: boolean;
  readonly data: Readonly<ByteSlice>;
  readonly acl: Acl;
  readonly childCount: number;
  /**
   * Walks the children's names in no promised order: `first` fills `childName` with one of them,
   * `next` with another, until false.
   */
  firstChild(): boolean;
  nextChild(): boolean;
  readonly childName: Readonly<ByteSlice>;
}
