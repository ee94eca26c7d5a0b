/** One client's security context of Kerberos, on the accepting side (RFC 2743). */
export interface GssContext {
  /**
   * Takes the client's next token.
   *
   * @throws GssError if the client is not authenticated
   */
  accept(token: Uint8Array): GssStep;
  /** Protects a message's integrity. */
  wrap(message: Uint8Array): Uint8Array;
  /** @throws GssError if the message is not the client's */
  unwrap(wrapped: Uint8Array): Uint8Array;
  /** Frees it; nothing of it may be called afterwards. */
  dispose(): void;
}

export interface GssStep {
  /** For the client; empty if there is nothing to send. */
  readonly token: Uint8Array;
  /** The client's principal, once the context is established. */
  readonly client: string | undefined;
}

/** The server's credentials, from its keytab. */
export interface GssAcceptor {
  context(): GssContext;
}

/** The library's reason, in its own words. */
export class GssError extends Error {
  override readonly name = "GssError";
}
