import type { AnyCall } from "./call.ts";

/** What lone calls go over. */
export interface ExclusiveConnection {
  /** Whether it takes a call now. */
  isOpen(): boolean;
  /** Whether nothing is on its way. */
  isEmpty(): boolean;
  send(call: AnyCall): void;
}

/**
 * Calls that go over a connection with nothing else on its way, one after another: a server that hangs up on who asks takes nothing along
 * whose outcome somebody would have to doubt. While one is here everything else waits.
 */
export class ExclusiveCalls {
  readonly #connection: ExclusiveConnection;
  #calls: AnyCall[] = [];
  #sent: AnyCall | undefined;

  constructor(connection: ExclusiveConnection) {
    this.#connection = connection;
  }

  /** Whether anything else must wait. */
  get isUnderWay(): boolean {
    return this.#sent !== undefined || this.#calls.length > 0;
  }

  push(call: AnyCall): void {
    this.#calls.push(call);
  }

  /** Sends the next one, where there is one and nothing is on its way. */
  sendNext(): void {
    while (this.#sent === undefined && this.#connection.isOpen() && this.#connection.isEmpty()) {
      const call = this.#calls.shift();
      if (call === undefined) return;
      this.#sent = call;
      this.#connection.send(call);
      // It was withdrawn meanwhile, or could not be written.
      if (this.#connection.isEmpty()) this.#sent = undefined;
    }
  }

  /** A call is not on its way any more, whichever it was. */
  settled(call: AnyCall): void {
    if (call === this.#sent) this.#sent = undefined;
  }

  /** The connection is gone, or will never be. @returns who had not been sent on it */
  drain(): readonly AnyCall[] {
    const left = this.#calls;
    this.#calls = [];
    this.#sent = undefined;
    return left;
  }
}
