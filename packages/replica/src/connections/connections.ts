import type { WatchTable } from "@zooid/data-tree";
import type { ClientShares, ConnectionRef, Identity } from "@zooid/model";
import type { PostponedWork } from "../parts/postponed-work.ts";
import type { ConnectionRefusal, ReplicaSinks } from "../sinks.ts";
import { Connection } from "./connection.ts";

/**
 * Watches of a closed connection removed when it is closed, and of all such connections in a turn.
 */
const WATCHES_AT_ONCE = 256;
const WATCHES_PER_TURN = 4096;

/**
 * The connections of this server's clients, by number.
 *
 * A number is used again only when nothing refers to it any more:
 * 1. Client A sends a write on connection 5 and disconnects; client B connects.
 * 2. The write commits, and its answer goes to the connection with the number 5.
 * 3. If B had the number 5 by now, it would get A's answer. So connection 5 keeps its number until
 *    the write has committed. The same holds for watches that are not removed yet.
 */
export class Connections {
  readonly #watches: WatchTable;
  readonly #sinks: ReplicaSinks;
  readonly #shares: ClientShares;
  readonly #postponed: PostponedWork;
  readonly #byRef: (Connection | undefined)[] = [];
  readonly #freeRefs: ConnectionRef[] = [];
  #count = 0;
  /** Closed connections whose watches are not all removed. */
  readonly #removing = new Set<Connection>();
  /** Watches that may still be removed before the next {@link removeMoreWatches}. */
  #removable = WATCHES_PER_TURN;

  constructor(watches: WatchTable, sinks: ReplicaSinks, shares: ClientShares, postponed: PostponedWork) {
    this.#watches = watches;
    this.#sinks = sinks;
    this.#shares = shares;
    this.#postponed = postponed;
  }

  /** Connections whose socket is open. */
  get count(): number {
    return this.#count;
  }

  /** Also one whose socket is gone, while its number is in use. */
  get(ref: ConnectionRef): Connection | undefined {
    return this.#byRef[ref];
  }

  *[Symbol.iterator](): Generator<Connection> {
    for (const connection of this.#byRef) if (connection !== undefined && !connection.gone) yield connection;
  }

  add(address: string, certified: readonly Identity[]): ConnectionRef {
    const ref = this.#freeRefs.pop() ?? (this.#byRef.length as ConnectionRef);
    this.#byRef[ref] = new Connection({ ref, address, ...this.#shares.of(address, ref) }, certified);
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
    // rule: a-late-disconnect-leaves-the-new-connection
    if (connection.session?.connection === ref) connection.session.connection = undefined;
    connection.waiting = undefined;
    connection.unfinished = undefined;
    connection.heldWrite = undefined;
    this.forget(connection);
  }

  /** Frees its number, unless a write or sync of it is unanswered or it still has watches. */
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

  /** Whether {@link removeMoreWatches} has something to do. */
  get isRemovingWatches(): boolean {
    return this.#removing.size > 0;
  }

  /**
   * A client may have a million watches, and many clients may disconnect at once: some in each
   * turn.
   */
  removeMoreWatches(): void {
    this.#removable = WATCHES_PER_TURN;
    for (const connection of this.#removing) {
      if (!this.#removeSome(connection, this.#removable)) return;
      this.#removing.delete(connection);
      if (connection.gone) this.forget(connection);
    }
  }

  #removeWatches(connection: Connection): void {
    if (this.#watches.countOf(connection.ref) === 0 || this.#removing.has(connection)) return;
    if (this.#removeSome(connection, Math.min(WATCHES_AT_ONCE, this.#removable))) return;
    this.#removing.add(connection);
    this.#postponed.mark();
  }

  /** @returns whether none is left */
  #removeSome(connection: Connection, most: number): boolean {
    this.#removable -= this.#watches.removeConnection(connection.ref, most);
    return this.#watches.countOf(connection.ref) === 0;
  }

  /** Closes a connection because of what it sent. */
  refuse(connection: Connection, refusal: ConnectionRefusal): void {
    this.#sinks.refused?.(connection.ref, refusal);
    this.close(connection);
  }

  /**
   * The role has ended: closes all connections that sent a connect request; requests get no answer.
   */
  disconnectAll(): void {
    for (const connection of this.#byRef) {
      if (connection === undefined || connection.phase === "new") continue;
      connection.answered = connection.issued;
      connection.waiting = undefined;
      connection.heldWrite = undefined;
      connection.session = undefined;
      if (connection.gone) this.forget(connection);
      else this.close(connection);
    }
  }
}
