import type { HostAddress } from "../servers/connect-string.ts";

/** A mechanism of SASL (RFC 4422). Implement it for other mechanisms, such as Kerberos. */
export interface SaslMechanism {
  /** As SASL names it, and the user: for messages. */
  readonly name?: string;
  readonly user?: string;
  /**
   * Starts an exchange, for each connection.
   *
   * @param server the server to authenticate to; `name` is its name in the connect string, where
   *   that is no address
   */
  begin(server: HostAddress): SaslExchange | Promise<SaslExchange>;
}

/** One exchange of tokens, on one connection. */
export interface SaslExchange {
  /** The initial token; empty where the server begins. */
  readonly first: Uint8Array;
  /**
   * The next token; undefined when the server has sent its last one.
   *
   * @throws where the server fails to authenticate itself: the client ends with AUTH_FAILED
   */
  next(token: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}
