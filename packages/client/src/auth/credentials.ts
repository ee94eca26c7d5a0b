import { ErrorCode } from "@zooid/model";
import { type AnyCall, Call, type CallFields } from "../calls/call.ts";
import { AUTH, type Operation } from "../calls/operation.ts";
import type { OutgoingRequests } from "../calls/outgoing-requests.ts";
import type { ZkError } from "../errors.ts";
import type { Credential } from "../options.ts";

const XID_AUTH = -4;
/** The xid of a call that is not in flight. */
const XID_NONE = 0;
/** Errors of an auth packet that end the client: another connection would give the same answer. */
const REFUSALS: ReadonlySet<number> = new Set<number>([
  ErrorCode.AUTH_FAILED,
  ErrorCode.SESSION_CLOSED_REQUIRE_SASL_AUTH,
]);

/** The client's credentials, which are sent on every connection, and the calls that added them. */
export class Credentials {
  readonly #credentials: Credential[];
  readonly #outgoing: OutgoingRequests;
  /** Auth packets are answered in an order of their own. */
  #calls: AnyCall[] = [];

  constructor(credentials: readonly Credential[], outgoing: OutgoingRequests) {
    this.#credentials = [...credentials];
    this.#outgoing = outgoing;
  }

  /** Adds credentials, to be sent on every later connection. */
  add(credential: Credential): void {
    const isKnown = this.#credentials.some((other) => isSameCredential(other, credential));
    if (!isKnown) this.#credentials.push(credential);
  }

  /** Sends credentials on the current connection. */
  send(call: AnyCall): void {
    call.xid = XID_AUTH;
    if (!this.#outgoing.write(call)) return;
    this.#calls.push(call);
    this.#outgoing.scheduleFlush();
  }

  /**
   * All credentials are sent with the next connection; the call that added some is answered there.
   */
  sendLater(call: AnyCall): void {
    this.#calls.push(call);
  }

  /** Sends all credentials on a new connection. */
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

  /** Settles the oldest call. @returns false when the client must end */
  answered(code: number): boolean {
    const call = this.#calls.shift();
    if (code === ErrorCode.OK) {
      call?.resolve(undefined);
      return true;
    }
    call?.reject(call.refusal(code));
    return !REFUSALS.has(code);
  }

  /** The connection is lost; unanswered calls are repeated on the next one. */
  severed(): void {
    this.#calls = this.#calls.filter((call) => !call.isSettled);
    for (const call of this.#calls) call.xid = XID_NONE;
  }

  end(errorOf: (call: AnyCall) => ZkError): void {
    for (const call of this.#calls) call.reject(errorOf(call));
    this.#calls = [];
  }
}

/** The fields of a call that sends credentials. */
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
