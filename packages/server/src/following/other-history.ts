import type { DataTree } from "@zooid/data-tree";
import { STAT_BYTES, StatOffset, type Zxid, zxidFromHalves } from "@zooid/model";

/** The nodes that a snapshot shares with the tree that it would replace. */
export interface CommonNodes {
  /** Nodes of the snapshot that were created when the tree stood where it stands, or before. */
  readonly older: number;
  /** Those of them that the tree has, created at the same moment. */
  readonly common: number;
}

/**
 * Compares the nodes of a snapshot with those of the tree that was followed before. In one history
 * a node which is as old as the tree is in it.
 *
 * @param last the transaction at which the tree stands
 */
export function* commonNodes(tree: DataTree, snapshot: DataTree, last: Zxid): Generator<void, CommonNodes, undefined> {
  const there = new DataView(new ArrayBuffer(STAT_BYTES));
  const here = new DataView(new ArrayBuffer(STAT_BYTES));
  let [older, common, left] = [0, 0, NODES_AT_ONCE];
  for (const node of snapshot.nodesByAge()) {
    if (left-- === 0) {
      left = NODES_AT_ONCE;
      yield;
    }
    snapshot.storedStat(node, there);
    const { czxid, ctime } = StatOffset;
    const created = zxidFromHalves(there.getInt32(czxid), there.getInt32(czxid + 4));
    // Nodes that every server makes at its start have none.
    if (created === 0 || created > last) continue;
    older++;
    const path = snapshot.pathBytes(node);
    const own = tree.find(path, 0, path.length);
    if (own === 0) continue;
    tree.storedStat(own, here);
    const isSame = [czxid, ctime].every((offset) => there.getBigInt64(offset) === here.getBigInt64(offset));
    if (isSame) common++;
  }
  return { older, common };
}

const NODES_AT_ONCE = 1000;
