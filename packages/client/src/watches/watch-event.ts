import { WatchEventType, type Zxid } from "@zooid/model";

/** An event of a watch: the kind of change, not the node's new state. */
export interface WatchEvent {
  readonly type: "created" | "deleted" | "data-changed" | "children-changed";
  readonly path: string;
  /** The zxid of the change; -1 from servers before 3.9, which do not send it. */
  readonly zxid: Zxid;
}

export function watchEventName(type: WatchEventType): WatchEvent["type"] {
  switch (type) {
    case WatchEventType.NODE_CREATED:
      return "created";
    case WatchEventType.NODE_DELETED:
      return "deleted";
    case WatchEventType.NODE_DATA_CHANGED:
      return "data-changed";
    case WatchEventType.NODE_CHILDREN_CHANGED:
      return "children-changed";
  }
}
