import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { SaslExchange, SaslStep } from "@zooid/replica";
import {
  DIGEST_MD5_FIRST_USE,
  DIGEST_MD5_SERVER,
  DIGEST_MD5_SERVICE,
  type DigestMd5Side,
  digestMd5Bytes,
  digestMd5Directives,
  digestMd5Response,
} from "@zooid/wire";

/** Users and their passwords, from the JAAS file. */
export type SaslUsers = ReadonlyMap<string, string>;

/** The longest token that RFC 2831 allows a client to send. */
const TOKEN_BYTES_MAX = 4096;
const NONCE_BYTES = 30;

/**
 * The server's side of DIGEST-MD5 (RFC 2831) for one connection: a challenge, the client's proof
 * that it knows the password, and the server's proof in return. There is one attempt; every
 * later token fails.
 *
 * ```
 *   client            server
 *     (empty)   ──▶   realm, nonce
 *     response  ──▶   rspauth
 * ```
 */
export class DigestMd5Exchange implements SaslExchange {
  readonly #users: SaslUsers;
  readonly #nonce: string;
  #state: "new" | "challenged" | "over" = "new";

  constructor(users: SaslUsers, nonce: string = randomBytes(NONCE_BYTES).toString("base64")) {
    this.#users = users;
    this.#nonce = nonce;
  }

  step(token: Uint8Array): SaslStep {
    if (this.#state === "new") {
      // An initial response of the client is accepted and ignored.
      this.#state = "challenged";
      const challenge = `realm="${DIGEST_MD5_SERVER}",nonce="${this.#nonce}",charset=utf-8,algorithm=md5-sess`;
      return { kind: "challenge", token: Buffer.from(challenge) };
    }
    const isFirst = this.#state === "challenged";
    this.#state = "over";
    if (!isFirst || token.length > TOKEN_BYTES_MAX) return { kind: "failed" };
    return this.#judge(Buffer.from(token).toString("latin1"));
  }

  /** @param text the bytes of the response, one character each */
  #judge(text: string): SaslStep {
    const directives = parseDirectives(text);
    if (directives === undefined || !isForUs(directives, this.#nonce)) return { kind: "failed" };
    const isUtf8 = directives.has("charset");
    const user = decoded(directives.get("username") ?? "", isUtf8);
    const password = this.#users.get(user);
    const proof = (side: DigestMd5Side): string =>
      response({ directives, user, password: password ?? "", isUtf8, nonce: this.#nonce, side });
    // Computed for an unknown user too: the time of an answer does not reveal which users exist.
    const isRight = equals(proof("client"), directives.get("response") ?? "");
    if (!isRight || password === undefined) return { kind: "failed" };
    return { kind: "done", token: Buffer.from(`rspauth=${proof("server")}`), user };
  }
}

/** Whether the response answers our challenge, with the only options that we offer. */
function isForUs(directives: ReadonlyMap<string, string>, nonce: string): boolean {
  const [service, host, ...rest] = (directives.get("digest-uri") ?? "").split("/");
  return (
    directives.get("realm") === DIGEST_MD5_SERVER &&
    equals(directives.get("nonce") ?? "", nonce) &&
    directives.get("nc") === DIGEST_MD5_FIRST_USE &&
    (directives.get("qop") ?? "auth") === "auth" &&
    (directives.get("charset") ?? "utf-8").toLowerCase() === "utf-8" &&
    directives.has("username") &&
    directives.has("cnonce") &&
    service === DIGEST_MD5_SERVICE &&
    host?.toLowerCase() === DIGEST_MD5_SERVER &&
    rest.length === 0
  );
}

/** Either side's proof that it knows the password. */
function response({
  directives,
  user,
  password,
  isUtf8,
  nonce,
  side,
}: {
  readonly directives: ReadonlyMap<string, string>;
  readonly user: string;
  readonly password: string;
  readonly isUtf8: boolean;
  readonly nonce: string;
  readonly side: DigestMd5Side;
}): string {
  const at = (name: string): string => directives.get(name) ?? "";
  const bytes = (text: string): Uint8Array => (isUtf8 ? digestMd5Bytes(text) : Buffer.from(text, "latin1"));
  const fields = {
    user: bytes(user),
    realm: bytes(DIGEST_MD5_SERVER),
    password: bytes(password),
    nonce,
    nonceCount: at("nc"),
    cnonce: at("cnonce"),
    uri: at("digest-uri"),
    authzid: directives.get("authzid"),
  };
  return digestMd5Response(fields, side, md5);
}

function decoded(bytes: string, isUtf8: boolean): string {
  return isUtf8 ? Buffer.from(bytes, "latin1").toString("utf8") : bytes;
}

function md5(bytes: Uint8Array): Buffer {
  return createHash("md5").update(bytes).digest();
}

/** In a time that depends on the lengths only. */
function equals(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one, "latin1"), Buffer.from(other, "latin1")];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** By their names; undefined for a text that is no list of directives, or names one twice. */
function parseDirectives(text: string): ReadonlyMap<string, string> | undefined {
  const directives = digestMd5Directives(text);
  const byName = new Map(directives?.map(({ name, value }) => [name, value]));
  return byName.size === directives?.length ? byName : undefined;
}
