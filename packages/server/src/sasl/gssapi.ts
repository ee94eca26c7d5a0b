import type { SaslExchange, SaslStep } from "@zooid/replica";
import { type GssContext, GssError } from "./gss-context.ts";
import type { PrincipalNames } from "./principal-names.ts";

/** Tickets with the groups of a directory have up to 48 KiB. */
const TOKEN_BYTES_MAX = 64 * 1024;
/**
 * The only layer on offer (RFC 4752, 3.3): authentication; later frames are neither signed nor
 * encrypted.
 */
const NO_LAYER = 1;
/** The layers on offer, and the longest message of a layer: there is none. */
const OFFER = Uint8Array.of(NO_LAYER, 0, 0, 0);
const OFFER_BYTES = OFFER.length;

export interface GssapiOptions {
  readonly context: GssContext;
  readonly names: PrincipalNames;
  /** Receives the reason of a failure. */
  readonly failed: (reason: string) => void;
}

/**
 * The server's side of GSSAPI (RFC 4752) for one connection: Kerberos authenticates both sides,
 * then they agree on the layer for what follows. There is one attempt; every later token fails.
 *
 * ```
 *   client                    server
 *     AP-REQ            ──▶   AP-REP
 *     (empty)           ──▶   wrapped: the layers on offer
 *     wrapped: choice   ──▶   (null)
 * ```
 */
export class GssapiExchange implements SaslExchange {
  readonly #options: GssapiOptions;
  #state: "context" | "established" | "offered" | "over" = "context";
  #client = "";

  constructor(options: GssapiOptions) {
    this.#options = options;
  }

  step(token: Uint8Array): SaslStep {
    if (this.#state === "over") return { kind: "failed" };
    try {
      if (token.length > TOKEN_BYTES_MAX) throw new GssError(`a token of ${token.length} bytes`);
      return this.#take(token);
    } catch (error) {
      if (!(error instanceof GssError)) throw error;
      this.#end();
      this.#options.failed(error.message);
      return { kind: "failed" };
    }
  }

  #take(token: Uint8Array): SaslStep {
    const { context } = this.#options;
    if (this.#state === "context") {
      const { token: answer, client } = context.accept(token);
      if (client === undefined) return { kind: "challenge", token: answer };
      this.#client = client;
      if (answer.length === 0) return this.#offer();
      this.#state = "established";
      return { kind: "challenge", token: answer };
    }
    if (this.#state === "established") {
      if (token.length > 0) throw new GssError("a token after the context was established");
      return this.#offer();
    }
    return this.#choose(context.unwrap(token));
  }

  #offer(): SaslStep {
    this.#state = "offered";
    return { kind: "challenge", token: this.#options.context.wrap(OFFER) };
  }

  /**
   * @param choice the layer, three bytes, and the user that the client wants to be: as with
   *   Apache's server it is the authenticated one, whatever it asks for
   */
  #choose(choice: Uint8Array): SaslStep {
    if (choice.length < OFFER_BYTES || choice[0] !== NO_LAYER)
      throw new GssError("the client chose a layer not on offer");
    const user = this.#options.names.userOf(this.#client);
    if (user === undefined)
      throw new GssError(`${this.#client} has no name here: no rule of security.auth_to_local names it`);
    this.#end();
    return { kind: "done", token: undefined, user };
  }

  #end(): void {
    this.#state = "over";
    this.#options.context.dispose();
  }
}
