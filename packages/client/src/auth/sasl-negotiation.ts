import { type AnyCall, Call } from "../calls/call.ts";
import { SASL } from "../calls/operation.ts";
import type { HostAddress } from "../servers/connect-string.ts";
import type { SaslExchange, SaslMechanism } from "./sasl.ts";

export interface NegotiationSinks {
  send(call: AnyCall): void;
  /** Both the server and the mechanism are satisfied. */
  done(): void;
  /** The server or the password was wrong: another attempt would fail as well. */
  failed(): void;
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
        if (generation === this.#generation) this.#step(exchange, exchange.first, generation);
      },
      () => {
        if (generation === this.#generation) this.#sinks.failed();
      },
    );
  }

  /** The connection is given up. */
  stop(): void {
    this.#isUnderWay = false;
    this.#generation++;
  }

  #step(exchange: SaslExchange, token: Uint8Array, generation: number): void {
    const fields = { operation: SASL, path: "/", shownPath: "/", body: token, isOwn: true };
    const answered = new Promise<Uint8Array>((resolve, reject) => {
      this.#sinks.send(new Call(fields, resolve, reject) as AnyCall);
    });
    answered
      .then((challenge) => exchange.next(challenge))
      .then(
        (next) => {
          if (generation !== this.#generation) return;
          if (next === undefined) {
            this.#isUnderWay = false;
            this.#sinks.done();
          } else this.#step(exchange, next, generation);
        },
        () => {
          if (generation === this.#generation) this.#sinks.failed();
        },
      );
  }
}
