import type { WatchTable } from "@zooid/data-tree";
import type { ConnectionRef, Identity } from "@zooid/model";
import { Connection } from "./connection.ts";
import type { Refusal, ReplicaSinks } from "./sinks.ts";

/** The clients that are connected to this server, by number. */
export class Connections {
  readonly #watches: WatchTable;
  readonly #sinks: ReplicaSinks;
  readonly #byRef: (Connection | undefined)[] = [];
  readonly #freeRefs: ConnectionRef[] = [];
  #count = 0;

  constructor(watches: WatchTable, sinks: ReplicaSinks) {
    this.#watches = watches;
    this.#sinks = sinks;
  }

  /** Those whose socket is there. */
  get count(): number {
    return this.#count;
  }

  /** Also one whose socket is gone, while a write of it is unanswered. */
  get(ref: ConnectionRef): Connection | undefined {
    return this.#byRef[ref];
  }

  *[Symbol.iterator](): Generator<Connection> {
    for (const connection of this.#byRef) if (connection !== undefined && !connection.gone) yield connection;
  }

  add(address: string, certified: readonly Identity[]): ConnectionRef {
    const ref = this.#freeRefs.pop() ?? (this.#byRef.length as ConnectionRef);
    this.#byRef[ref] = new Connection(ref, address, certified);
    this.#count++;
    return ref;
  }

  /** The socket is gone. */
  disconnect(ref: ConnectionRef): void {
    const connection = this.#byRef[ref];
    if (connection === undefined || connection.gone) return;
    connection.gone = true;
    connection.phase = "closing";
    this.#count--;
    this.#watches.removeConnection(ref);
    if (connection.session?.connection === ref) connection.session.connection = undefined;
    connection.waiting = undefined;
    this.forget(connection);
  }

  /** Its number is free again, unless something of it is unanswered. */
  forget(connection: Connection): void {
    if (connection.unanswered > 0) return;
    this.#byRef[connection.ref] = undefined;
    this.#freeRefs.push(connection.ref);
  }

  close(connection: Connection): void {
    if (connection.phase === "closing") return;
    connection.phase = "closing";
    if (connection.session?.connection === connection.ref) connection.session.connection = undefined;
    this.#watches.removeConnection(connection.ref);
    this.#sinks.replies.close(connection.ref);
  }

  /** Closes one for what it sent. */
  refuse(connection: Connection, refusal: Refusal): void {
    this.#sinks.refused?.(connection.ref, refusal);
    this.close(connection);
  }

  /** Closes all that have begun a session here: what they asked has no answer any more. */
  letGo(): void {
    for (const connection of this.#byRef) {
      if (connection === undefined || connection.phase === "new") continue;
      connection.answered = connection.issued;
      connection.waiting = undefined;
      connection.session = undefined;
      if (connection.gone) this.forget(connection);
      else this.close(connection);
    }
  }
}
