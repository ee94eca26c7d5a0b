import { type AnyCall, Call } from "../calls/call.ts";
import { SASL } from "../calls/operation.ts";
import { asError, isZkError } from "../errors.ts";
import type { HostAddress } from "../servers/connect-string.ts";
import type { SaslExchange, SaslMechanism } from "./sasl.ts";

export interface NegotiationSinks {
  send(call: AnyCall): void;
  /** Both the server and the mechanism are satisfied. */
  done(): void;
  /** The server or the password was wrong: another attempt would fail as well. */
  failed(reason: string): void;
}

/** The SASL exchange at the start of a connection, during which no other request may be sent. */
export class SaslNegotiation {
  readonly #sinks: NegotiationSinks;
  #isUnderWay = false;
  /** Number of the exchange: results of an earlier one are ignored. */
  #generation = 0;

  constructor(sinks: NegotiationSinks) {
    this.#sinks = sinks;
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  begin(sasl: SaslMechanism, server: HostAddress | undefined): void {
    this.#isUnderWay = true;
    const generation = ++this.#generation;
    // Without an address the connection was given up.
    const begun = new Promise<SaslExchange>((resolve) => server !== undefined && resolve(sasl.begin(server)));
    begun.then(
      (exchange) => {
        if (generation === this.#generation) this.#step({ sasl, exchange }, exchange.first, generation);
      },
      (error: unknown) => {
        if (generation === this.#generation) this.#sinks.failed(reasonOf(sasl, error));
      },
    );
  }

  /** The connection is given up. */
  stop(): void {
    this.#isUnderWay = false;
    this.#generation++;
  }

  #step(
    under: { readonly sasl: SaslMechanism; readonly exchange: SaslExchange },
    token: Uint8Array,
    generation: number,
  ): void {
    const fields = { operation: SASL, path: "/", shownPath: "/", body: token, isOwn: true };
    const answered = new Promise<Uint8Array>((resolve, reject) => {
      this.#sinks.send(new Call(fields, resolve, reject) as AnyCall);
    });
    answered
      .then((challenge) => under.exchange.next(challenge))
      .then(
        (next) => {
          if (generation !== this.#generation) return;
          if (next === undefined) {
            this.#isUnderWay = false;
            this.#sinks.done();
          } else this.#step(under, next, generation);
        },
        (error: unknown) => {
          if (generation === this.#generation) this.#sinks.failed(reasonOf(under.sasl, error));
        },
      );
  }
}

/** By whom, how and why authentication was refused. */
function reasonOf({ name, user }: SaslMechanism, error: unknown): string {
  const who = `SASL${name === undefined ? "" : ` ${name}`}${user === undefined ? "" : ` as ${JSON.stringify(user)}`}`;
  if (isZkError(error, "UNIMPLEMENTED")) return `${who}: this server has no SASL`;
  if (isZkError(error)) return `${who}: the server does not know the user, or the password is another (${error.code})`;
  return `${who}: ${asError(error).message}`;
}
