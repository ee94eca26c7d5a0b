import type { AnyCall } from "./call.ts";

/** The connection that exclusive calls use. */
export interface ExclusiveConnection {
  /** Whether it accepts a call now. */
  isOpen(): boolean;
  /** Whether no request is in flight. */
  isEmpty(): boolean;
  send(call: AnyCall): void;
}

/**
 * Calls that are sent while no other request is in flight, one after another. Some servers close
 * the connection instead of answering them; without other requests in flight no other call loses
 * its answer. Meanwhile all other calls wait.
 */
export class ExclusiveCalls {
  readonly #connection: ExclusiveConnection;
  #calls: AnyCall[] = [];
  #sent: AnyCall | undefined;

  constructor(connection: ExclusiveConnection) {
    this.#connection = connection;
  }

  /** Whether other calls must wait. */
  get isUnderWay(): boolean {
    return this.#sent !== undefined || this.#calls.length > 0;
  }

  push(call: AnyCall): void {
    this.#calls.push(call);
  }

  /** Sends the next one, if no request is in flight. */
  sendNext(): void {
    while (this.#sent === undefined && this.#connection.isOpen() && this.#connection.isEmpty()) {
      const call = this.#calls.shift();
      if (call === undefined) return;
      this.#sent = call;
      this.#connection.send(call);
      // It was cancelled meanwhile, or could not be encoded.
      if (this.#connection.isEmpty()) this.#sent = undefined;
    }
  }

  /** A call is no longer in flight. */
  settled(call: AnyCall): void {
    if (call === this.#sent) this.#sent = undefined;
  }

  /** The connection is lost, or will never be made. @returns the calls that were not sent on it */
  drain(): readonly AnyCall[] {
    const left = this.#calls;
    this.#calls = [];
    this.#sent = undefined;
    return left;
  }
}
