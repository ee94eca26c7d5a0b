import { WatchEventType, type Zxid } from "@zooid/model";

/** What a watch tells: that something happened to a node, not what the node is now. */
export interface WatchEvent {
  readonly type: "created" | "deleted" | "data-changed" | "children-changed";
  readonly path: string;
  /** Of the change; -1 from servers before 3.9, which do not tell. */
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
