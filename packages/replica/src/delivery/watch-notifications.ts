import type { WatchSink } from "@zooid/data-tree";
import {
  type Acl,
  type ByteSlice,
  type ConnectionRef,
  may,
  Permission,
  type WatchEventType,
  type Zxid,
} from "@zooid/model";
import type { GroundParts } from "../parts/ground.ts";

/** Sends watch events to connections that may read the node. */
export class WatchNotifications implements WatchSink {
  readonly #parts: GroundParts;

  constructor(parts: GroundParts) {
    this.#parts = parts;
  }

  mayRead(ref: ConnectionRef, acl: Acl): boolean {
    const { connections, auth } = this.#parts;
    const connection = connections.get(ref);
    return connection !== undefined && may(auth.rules, connection.identities, acl, Permission.READ);
  }

  event(ref: ConnectionRef, zxid: Zxid | -1, type: WatchEventType, path: Readonly<ByteSlice>): void {
    this.#parts.sinks.replies.event(ref, zxid, type, path);
  }
}
