import type { ClientState, WatchEvent } from "@zooid/client";
import type { JsonObject } from "../output.ts";

/**
 * An event of zkCli's watcher: a change of the connection, a change of a node, or the removal of a
 * watch.
 */
export interface WatchedEvent {
  readonly state: ConnectionEvent;
  readonly type: NodeEvent | WatchRemoval | "None";
  readonly path: string | null;
  /** -1 if no transaction caused it, or if the server does not send it. */
  readonly zxid: number;
}

export type ConnectionEvent =
  | "SyncConnected"
  | "ConnectedReadOnly"
  | "Disconnected"
  | "Expired"
  | "AuthFailed"
  | "Closed";
export type NodeEvent = "NodeCreated" | "NodeDeleted" | "NodeDataChanged" | "NodeChildrenChanged";
export type WatchRemoval = "DataWatchRemoved" | "ChildWatchRemoved" | "PersistentWatchRemoved";

const NODE_EVENTS: Readonly<Record<WatchEvent["type"], NodeEvent>> = {
  created: "NodeCreated",
  deleted: "NodeDeleted",
  "data-changed": "NodeDataChanged",
  "children-changed": "NodeChildrenChanged",
};

export function nodeEvent({ type, path, zxid }: WatchEvent): WatchedEvent {
  return { state: "SyncConnected", type: NODE_EVENTS[type], path, zxid };
}

export function removalEvent(type: WatchRemoval, path: string): WatchedEvent {
  return { state: "SyncConnected", type, path, zxid: -1 };
}

const EVENTS: Readonly<Record<ClientState["kind"], ConnectionEvent | undefined>> = {
  connecting: undefined,
  connected: "SyncConnected",
  "read-only": "ConnectedReadOnly",
  suspended: "Disconnected",
  lost: "Expired",
  "auth-failed": "AuthFailed",
  closed: "Closed",
};

/** Undefined for a state that causes no event. */
export function connectionEvent({ kind }: ClientState): WatchedEvent | undefined {
  const state = EVENTS[kind];
  return state === undefined ? undefined : { state, type: "None", path: null, zxid: -1 };
}

/** The four lines that zkCli's default watcher prints. */
export function watchedEventLines({ state, type, path, zxid }: WatchedEvent): readonly string[] {
  return ["", "WATCHER::", "", `WatchedEvent state:${state} type:${type} path:${path} zxid: ${zxid}`];
}

export function watchedEventJson({ state, type, path, zxid }: WatchedEvent): JsonObject {
  return { event: type, state, path, zxid: zxid < 0 ? null : `0x${zxid.toString(16)}` };
}
