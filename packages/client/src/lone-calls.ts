import type { AnyCall } from "./call.ts";

/**
 * Calls that go over a connection with nothing else on its way, one after another: a server that hangs up on who asks takes nothing along
 * whose outcome somebody would have to doubt. While one is here everything else waits.
 */
export class LoneCalls {
  #calls: AnyCall[] = [];
  #sent: AnyCall | undefined;

  /** Whether anything else must wait. */
  get isUnderWay(): boolean {
    return this.#sent !== undefined || this.#calls.length > 0;
  }

  push(call: AnyCall): void {
    this.#calls.push(call);
  }

  /** The one to be sent now, when nothing is on its way; undefined where there is none, or one is on its way itself. */
  take(): AnyCall | undefined {
    if (this.#sent !== undefined) return undefined;
    this.#sent = this.#calls.shift();
    return this.#sent;
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
