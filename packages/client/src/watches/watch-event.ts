import { WatchEventType, type Zxid } from "@zooid/model";

/** An event of a watch: the kind of change, not the node's new state. */
export interface WatchEvent {
  readonly type: "created" | "deleted" | "data-changed" | "children-changed";
  readonly path: string;
  /** The zxid of the change; -1 from servers before 3.9, which do not send it. */
  readonly zxid: Zxid;
}

const NAMES: Readonly<Record<WatchEventType, WatchEvent["type"]>> = {
  [WatchEventType.NODE_CREATED]: "created",
  [WatchEventType.NODE_DELETED]: "deleted",
  [WatchEventType.NODE_DATA_CHANGED]: "data-changed",
  [WatchEventType.NODE_CHILDREN_CHANGED]: "children-changed",
};

export function watchEventName(type: WatchEventType): WatchEvent["type"] {
  return NAMES[type];
}
