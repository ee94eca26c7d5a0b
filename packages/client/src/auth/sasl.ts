import type { HostAddress } from "../servers/connect-string.ts";

/** What a way of authenticating by SASL (RFC 4422) is to a client. Implement it for mechanisms of your own, Kerberos for one. */
export interface SaslMechanism {
  /**
   * Begins anew: for each connection.
   *
   * @param server whom it is to be proven to; `name` is what the connect string calls it, where that is no address
   */
  begin(server: HostAddress): SaslExchange | Promise<SaslExchange>;
}

/** One exchange of tokens, on one connection. */
export interface SaslExchange {
  /** What is said first; empty where the server begins. */
  readonly first: Uint8Array;
  /**
   * What is said next; undefined when the server has said the last word.
   *
   * @throws where the server cannot prove what it should: the client ends with AUTH_FAILED
   */
  next(token: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}
