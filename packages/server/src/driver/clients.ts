import type { ConnectionRef } from "@zooid/model";
import type { JuteWriter, ReplyTargets } from "@zooid/wire";
import type { ClientConnection } from "../clients/client-connection.ts";
import type { DriverGround } from "./driver-ground.ts";
import { SessionlessConnections } from "./sessionless-connections.ts";

/**
 * The connections of clients by the replica's number, and the buffers that answers are written to.
 */
export class Clients implements ReplyTargets {
  readonly #parts: DriverGround;
  readonly #byRef: (ClientConnection | undefined)[] = [];
  readonly #sessionless: SessionlessConnections<ClientConnection>;
  /** Objects instead of numbers, which may name other connections when these are resumed. */
  #resumed: ClientConnection[] = [];

  constructor(parts: DriverGround) {
    this.#parts = parts;
    const { sessionlessTimeoutMs } = parts.config;
    this.#sessionless = new SessionlessConnections(sessionlessTimeoutMs, (connection) => {
      const reason = `no connect request came within ${sessionlessTimeoutMs} ms`;
      parts.hooks.refusals.note("handshake", connection.peer, reason);
      parts.traffic.sessionlessExpired++;
      connection.close();
    });
  }

  get(ref: ConnectionRef): ClientConnection | undefined {
    return this.#byRef[ref];
  }

  *[Symbol.iterator](): Generator<ClientConnection> {
    for (const connection of this.#byRef) if (connection !== undefined) yield connection;
  }

  add(connection: ClientConnection): void {
    this.#byRef[connection.ref] = connection;
    this.#sessionless.add(connection);
  }

  /** A connection has sent its connect request. */
  connected(connection: ClientConnection): void {
    this.#sessionless.delete(connection);
  }

  /** The socket is gone. */
  remove(connection: ClientConnection): void {
    this.#sessionless.delete(connection);
    if (this.#byRef[connection.ref] === connection) this.#byRef[connection.ref] = undefined;
  }

  // Answers

  writer(to: ConnectionRef): JuteWriter | undefined {
    const connection = this.#writable(to);
    if (connection === undefined) return undefined;
    this.dirty(connection);
    return connection.writer;
  }

  eventWriter(to: ConnectionRef): JuteWriter | undefined {
    const connection = this.#writable(to);
    if (connection === undefined) return undefined;
    if (!connection.isDirty) {
      connection.isDirty = true;
      if (!connection.isReading) this.#parts.written.addEvents(connection);
    }
    return connection.writer;
  }

  #writable(to: ConnectionRef): ClientConnection | undefined {
    const connection = this.#byRef[to];
    if (connection === undefined || connection.isClosing) return undefined;
    if (connection.writer.end <= this.#parts.config.limits.outputBytesMax) return connection;
    connection.cutOffSlowReader(connection.writer.end);
    return undefined;
  }

  sentReadOnly(to: ConnectionRef): boolean {
    return this.#byRef[to]?.sentReadOnly === true;
  }

  close(to: ConnectionRef): void {
    this.#byRef[to]?.close();
  }

  /**
   * A connection has an answer to send, or is to be closed. While it is being read, it is flushed
   * after that.
   */
  dirty(connection: ClientConnection): void {
    if (connection.isAwaited) return;
    connection.isDirty = true;
    connection.isAwaited = true;
    if (!connection.isReading) this.#parts.written.add(connection);
  }

  // Resumed connections

  /** The replica has room again for requests of a connection. */
  resume(ref: ConnectionRef): void {
    const connection = this.#byRef[ref];
    if (connection !== undefined) this.#resumed.push(connection);
  }

  get hasResumed(): boolean {
    return this.#resumed.length > 0;
  }

  /** Reads resumed connections on, which may let further ones resume. */
  readResumed(): void {
    while (this.#resumed.length > 0) {
      const resumed = this.#resumed;
      this.#resumed = [];
      for (const connection of resumed) connection.resume();
    }
  }

  /** Closes some connections without a connect request in time. @returns whether there are more */
  closeSessionless(): boolean {
    return this.#sessionless.closeSome(performance.now());
  }
}
