import {
  type ByteSlice,
  type ConnectionRef,
  StatOffset,
  WatchEventType,
  WatchMode,
  WatchTableKind,
} from "@zooid/model";
import { NO_NODE } from "../nodes/node-row.ts";
import type { NodeStore } from "../nodes/node-store.ts";
import type { TreeState } from "../tree-state.ts";
import type { WatchSink, WatchTable } from "./watch-table.ts";

/**
 * The lists of a setWatches request that a path may stand in, in the order in which they are sent.
 */
export const WatchList = { DATA: 0, EXIST: 1, CHILD: 2, PERSISTENT: 3, PERSISTENT_RECURSIVE: 4 } as const;
export type WatchList = (typeof WatchList)[keyof typeof WatchList];

/** See {@link DataTree.restoreWatch}. The path is one that may be watched. */
export function restoreWatch(
  { store, acls }: TreeState,
  watches: WatchTable,
  list: number,
  path: Readonly<ByteSlice>,
  connection: ConnectionRef,
  relativeZxid: number,
  sink: WatchSink,
): void {
  const { bytes, start, end } = path;
  if (list === WatchList.PERSISTENT) watches.armPersistent(bytes, start, end, connection);
  else if (list === WatchList.PERSISTENT_RECURSIVE) watches.armRecursive(bytes, start, end, connection);
  else {
    const node = store.find(bytes, start, end);
    const missed = missedEvent(store, list, node, relativeZxid);
    if (missed !== 0) {
      if (node === NO_NODE || sink.mayRead(connection, acls.get(store.aclId(node))))
        sink.event(connection, -1, missed, path);
    } else {
      const kind = list === WatchList.CHILD ? WatchTableKind.CHILD : WatchTableKind.DATA;
      watches.arm(kind, bytes, start, end, connection, WatchMode.STANDARD);
    }
  }
}

/** 0 when nothing was missed. */
function missedEvent(store: NodeStore, list: number, node: number, relativeZxid: number): WatchEventType | 0 {
  if (list === WatchList.EXIST) return node === NO_NODE ? 0 : WatchEventType.NODE_CREATED;
  if (node === NO_NODE) return WatchEventType.NODE_DELETED;
  if (list === WatchList.CHILD) {
    return store.statLong(node, StatOffset.pzxid) > relativeZxid ? WatchEventType.NODE_CHILDREN_CHANGED : 0;
  }
  return store.statLong(node, StatOffset.mzxid) > relativeZxid ? WatchEventType.NODE_DATA_CHANGED : 0;
}
