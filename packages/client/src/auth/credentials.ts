import { ErrorCode } from "@zooid/model";
import { type AnyCall, Call, type CallFields } from "../calls/call.ts";
import { AUTH, type Operation } from "../calls/operation.ts";
import type { OutgoingRequests } from "../calls/outgoing-requests.ts";
import type { ZkError } from "../errors.ts";
import type { Credential } from "../options.ts";

const XID_AUTH = -4;
/** Of a call that is not on its way. */
const XID_NONE = 0;
/** What ends the client as an answer to an identity: no other connection would bring another answer. */
const REFUSALS: ReadonlySet<number> = new Set<number>([
  ErrorCode.AUTH_FAILED,
  ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH,
]);

/** Who the client says it is, on every connection anew: its credentials, and the calls that show them. */
export class Credentials {
  readonly #credentials: Credential[];
  readonly #outgoing: OutgoingRequests;
  /** Answered out of the order of other calls, in an order of their own. */
  #calls: AnyCall[] = [];

  constructor(credentials: readonly Credential[], outgoing: OutgoingRequests) {
    this.#credentials = [...credentials];
    this.#outgoing = outgoing;
  }

  /** Shows one on every connection to come. */
  add(credential: Credential): void {
    const isKnown = this.#credentials.some((other) => isSameCredential(other, credential));
    if (!isKnown) this.#credentials.push(credential);
  }

  /** Shows one on the connection that stands. */
  send(call: AnyCall): void {
    call.xid = XID_AUTH;
    if (!this.#outgoing.write(call)) return;
    this.#calls.push(call);
    this.#outgoing.scheduleFlush();
  }

  /** Every credential goes out with the next connection; the call of one that was added is answered there. */
  sendLater(call: AnyCall): void {
    this.#calls.push(call);
  }

  /** Shows them all on a new connection. */
  sendAll(): void {
    const asked = this.#calls;
    this.#calls = [];
    for (const credential of this.#credentials) {
      const at = asked.findIndex(({ body }) => isSameCredential(body as Credential, credential));
      const call = at === -1 ? undefined : asked.splice(at, 1)[0];
      this.send(call ?? (new Call(authFields(credential), ignore, ignore) as AnyCall));
    }
    for (const call of asked) this.send(call);
  }

  /** Settles the call that the next answer is for. @returns false when the client may not go on */
  answered(code: number): boolean {
    const call = this.#calls.shift();
    if (code === ErrorCode.OK) {
      call?.resolve(undefined);
      return true;
    }
    call?.reject(call.refusal(code));
    return !REFUSALS.has(code);
  }

  /** The connection is gone; what was not answered is asked on the next one. */
  severed(): void {
    this.#calls = this.#calls.filter((call) => !call.isSettled);
    for (const call of this.#calls) call.xid = XID_NONE;
  }

  end(errorOf: (call: AnyCall) => ZkError): void {
    for (const call of this.#calls) call.reject(errorOf(call));
    this.#calls = [];
  }
}

/** What a call that shows an identity is made of. */
export function authFields({ scheme, auth }: Credential): CallFields<unknown, void> {
  const body = { scheme, auth: bytesOf(auth) };
  return { operation: AUTH as Operation<unknown, void>, path: "/", shownPath: "/", body };
}

function isSameCredential(a: Credential, b: Credential): boolean {
  return a.scheme === b.scheme && Buffer.from(bytesOf(a.auth)).equals(bytesOf(b.auth));
}

function bytesOf(auth: string | Uint8Array): Uint8Array {
  return typeof auth === "string" ? Buffer.from(auth) : auth;
}

const ignore = (): void => {};
