import type { WatchTable } from "@zooid/data-tree";
import type { ConnectionRef, Identity } from "@zooid/model";
import type { Refusal, ReplicaSinks } from "../sinks.ts";
import { Connection } from "./connection.ts";

/** Watches of a closed connection that are removed in the moment in which it is closed, and of all such connections in one turn. */
const WATCHES_AT_ONCE = 256;
const WATCHES_PER_TURN = 4096;

/** The clients that are connected to this server, by number. */
export class Connections {
  readonly #watches: WatchTable;
  readonly #sinks: ReplicaSinks;
  readonly #byRef: (Connection | undefined)[] = [];
  readonly #freeRefs: ConnectionRef[] = [];
  #count = 0;
  /** Connections that are closed and whose watches are not removed yet. */
  readonly #clearing = new Set<Connection>();
  /** Watches that may still be removed before the next {@link clear}. */
  #removable = WATCHES_PER_TURN;

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
    this.#removeWatches(connection);
    if (connection.session?.connection === ref) connection.session.connection = undefined;
    connection.waiting = undefined;
    connection.unfinished = undefined;
    this.forget(connection);
  }

  /** Its number is free again, unless something of it is unanswered or it still has watches. */
  forget(connection: Connection): void {
    if (connection.unanswered > 0 || this.#watches.countOf(connection.ref) > 0) return;
    this.#byRef[connection.ref] = undefined;
    this.#freeRefs.push(connection.ref);
  }

  close(connection: Connection): void {
    if (connection.phase === "closing") return;
    connection.phase = "closing";
    if (connection.session?.connection === connection.ref) connection.session.connection = undefined;
    this.#removeWatches(connection);
    this.#sinks.replies.close(connection.ref);
  }

  /** Whether {@link clear} has something to do. */
  get isClearing(): boolean {
    return this.#clearing.size > 0;
  }

  /** Removes more watches of connections that are closed: a client may have a million of them, and many clients may go at once. */
  clear(): void {
    this.#removable = WATCHES_PER_TURN;
    for (const connection of this.#clearing) {
      if (!this.#removeSome(connection, this.#removable)) return;
      this.#clearing.delete(connection);
      if (connection.gone) this.forget(connection);
    }
  }

  #removeWatches(connection: Connection): void {
    if (this.#watches.countOf(connection.ref) === 0 || this.#clearing.has(connection)) return;
    if (!this.#removeSome(connection, Math.min(WATCHES_AT_ONCE, this.#removable))) this.#clearing.add(connection);
  }

  /** @returns whether none is left */
  #removeSome(connection: Connection, most: number): boolean {
    this.#removable -= this.#watches.removeConnection(connection.ref, most);
    return this.#watches.countOf(connection.ref) === 0;
  }

  /** Closes one for what it sent. */
  refuse(connection: Connection, refusal: Refusal): void {
    this.#sinks.refused?.(connection.ref, refusal);
    this.close(connection);
  }

  /** Closes all that have begun a session here: what they asked has no answer any more. */
  disconnectAll(): void {
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
