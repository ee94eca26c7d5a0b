import { Framer, type OversizeSink } from "@zooid/wire";
import { asError } from "../errors.ts";
import type { HostAddress } from "../servers/connect-string.ts";
import type { Transport, TransportConnection, TransportEvents } from "../transport/transport.ts";

/** Events of the connection; none after it was given up. */
export interface ConnectionSinks {
  opened(): void;
  /** The frames are read with {@link CurrentConnection.read}, during the call only. */
  received(chunk: Buffer): void;
  /** There is room again. */
  drained(): void;
  closed(error: Error | undefined): void;
}

interface ConnectionConfig {
  readonly transport: Transport;
  readonly responseBytesMax: number;
}

/** The single connection of a client, or the attempt at one. Events of earlier ones are ignored. */
export class CurrentConnection {
  readonly #config: ConnectionConfig;
  readonly #sinks: ConnectionSinks;
  #connection: TransportConnection | undefined;
  #framer: Framer;
  #generation = 0;
  #isFull = false;
  /** Reports the fault of a transport of the caller as the end of its connection. */
  #fail = (_error: unknown): void => {};

  constructor(config: ConnectionConfig, sinks: ConnectionSinks) {
    this.#config = config;
    this.#sinks = sinks;
    this.#framer = new Framer(config.responseBytesMax);
  }

  /** A new number for each connection, and for none. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether there is one to write to. */
  get exists(): boolean {
    return this.#connection !== undefined;
  }

  /** Whether its buffer is full. */
  get isFull(): boolean {
    return this.#isFull;
  }

  dial(address: HostAddress, reachMs: number | undefined): void {
    const generation = ++this.#generation;
    const isMine = (): boolean => generation === this.#generation;
    this.#framer = new Framer(this.#config.responseBytesMax);
    const events: TransportEvents = {
      opened: () => {
        if (isMine()) this.#sinks.opened();
      },
      data: (chunk) => {
        if (isMine()) this.#sinks.received(chunk);
      },
      drained: () => {
        if (!isMine()) return;
        this.#isFull = false;
        this.#sinks.drained();
      },
      closed: (error) => {
        if (isMine()) this.#sinks.closed(error);
      },
    };
    // Reported after the machine has finished what it does.
    this.#fail = (error) => queueMicrotask(() => events.closed(asError(error)));
    try {
      this.#connection = this.#config.transport.connect(address, events, reachMs);
    } catch (error) {
      // An invalid address, such as a port above 65535.
      this.#fail(error);
    }
  }

  hangUp(): void {
    this.#generation++;
    const connection = this.#connection;
    this.#connection = undefined;
    this.#isFull = false;
    try {
      connection?.destroy();
    } catch {
      // A transport of the caller: no further event of it is used.
    }
  }

  /**
   * Reads the frames that a chunk completes, until the connection is given up.
   *
   * @throws WireError for a frame above the limit, and any error of `take`
   */
  read(chunk: Buffer, take: (bytes: Uint8Array, start: number, end: number) => void): void {
    const generation = this.#generation;
    this.#framer.push(chunk, (bytes, start, end) => {
      take(bytes, start, end);
      return generation === this.#generation;
    });
  }

  /**
   * From now on frames above the limit are skipped where the sink agrees; before, they are faults.
   */
  skipOversized(sink: OversizeSink): void {
    this.#framer.skipOversized(sink);
  }

  /** @param bytes must not be modified until `written` is called */
  write(bytes: Buffer, written: () => void): void {
    try {
      if (this.#connection?.write(bytes, written) === false) this.#isFull = true;
    } catch (error) {
      this.#fail(error);
    }
  }
}
