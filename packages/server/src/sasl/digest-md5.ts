import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { SaslExchange, SaslStep } from "@zooid/replica";

/** Users and their passwords, as the JAAS file has them. */
export type SaslUsers = ReadonlyMap<string, string>;

/** What ZooKeeper's servers call themselves in every exchange; clients check it. */
const SERVICE = "zookeeper";
const SERVER_NAME = "zk-sasl-md5";
/** The longest token that RFC 2831 lets a client send. */
const TOKEN_BYTES_MAX = 4096;
const NONCE_BYTES = 30;
/** A server that gives out a nonce once expects it once. */
const FIRST_USE = "00000001";

/**
 * The server's side of DIGEST-MD5 (RFC 2831) for one connection: a challenge, the client's proof that it knows the password, and the
 * server's proof in return. There is one attempt; whatever comes behind it fails.
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
      // A client that says something first is not refused, and what it says not looked at.
      this.#state = "challenged";
      const challenge = `realm="${SERVER_NAME}",nonce="${this.#nonce}",charset=utf-8,algorithm=md5-sess`;
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
    const proof = (prefix: string): string =>
      response({ directives, user, password: password ?? "", isUtf8, nonce: this.#nonce, prefix });
    // Computed for an unknown user too: the time an answer takes does not tell who exists.
    const isRight = equals(proof("AUTHENTICATE:"), directives.get("response") ?? "");
    if (!isRight || password === undefined) return { kind: "failed" };
    return { kind: "done", token: Buffer.from(`rspauth=${proof(":")}`), user };
  }
}

/** Whether the response answers our challenge, in the only way that we offer. */
function isForUs(directives: ReadonlyMap<string, string>, nonce: string): boolean {
  const [service, host, ...rest] = (directives.get("digest-uri") ?? "").split("/");
  return (
    directives.get("realm") === SERVER_NAME &&
    equals(directives.get("nonce") ?? "", nonce) &&
    directives.get("nc") === FIRST_USE &&
    (directives.get("qop") ?? "auth") === "auth" &&
    (directives.get("charset") ?? "utf-8").toLowerCase() === "utf-8" &&
    directives.has("username") &&
    directives.has("cnonce") &&
    service === SERVICE &&
    host?.toLowerCase() === SERVER_NAME &&
    rest.length === 0
  );
}

/** The response value of RFC 2831, 2.1.2.1; the server's own proof differs from the client's in its prefix alone. */
function response({
  directives,
  user,
  password,
  isUtf8,
  nonce,
  prefix,
}: {
  readonly directives: ReadonlyMap<string, string>;
  readonly user: string;
  readonly password: string;
  readonly isUtf8: boolean;
  readonly nonce: string;
  readonly prefix: string;
}): string {
  const at = (name: string): string => directives.get(name) ?? "";
  const secret = [user, SERVER_NAME, password].map((part) => latin1OrUtf8(part, isUtf8));
  const authorization = directives.has("authzid") ? `:${at("authzid")}` : "";
  const a1 = Buffer.concat([
    md5(joined(secret)),
    Buffer.from(`:${nonce}:${at("cnonce")}${authorization}`, "latin1"),
  ]).toString("latin1");
  const a2 = `${prefix}${at("digest-uri")}`;
  return hex(`${hex(a1)}:${nonce}:${at("nc")}:${at("cnonce")}:auth:${hex(a2)}`);
}

/** What fits into ISO 8859-1 is hashed in it, whatever it came in: RFC 2831, 2.1.2.1. */
function latin1OrUtf8(text: string, isUtf8: boolean): Buffer {
  const isWide = [...text].some((char) => (char.codePointAt(0) ?? 0) > 0xff);
  return Buffer.from(text, isUtf8 && isWide ? "utf8" : "latin1");
}

function decoded(bytes: string, isUtf8: boolean): string {
  return isUtf8 ? Buffer.from(bytes, "latin1").toString("utf8") : bytes;
}

function joined(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts.flatMap((part, i) => (i === 0 ? [part] : [Buffer.from(":"), part])));
}

function md5(bytes: Buffer): Buffer {
  return createHash("md5").update(bytes).digest();
}

function hex(latin1: string): string {
  return md5(Buffer.from(latin1, "latin1")).toString("hex");
}

/** In a time that depends on the lengths alone. */
function equals(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one, "latin1"), Buffer.from(other, "latin1")];
  return a.length === b.length && timingSafeEqual(a, b);
}

const DIRECTIVE = /[\s,]*([!#-'*+.0-9A-Z^-z|~-]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"|([^\s,"]*))\s*(?=,|$)/y;

/** `name=value` or `name="value"`, between commas; undefined when it is anything else, or names a directive twice. */
function parseDirectives(text: string): ReadonlyMap<string, string> | undefined {
  const directives = new Map<string, string>();
  DIRECTIVE.lastIndex = 0;
  while (DIRECTIVE.lastIndex < text.length) {
    const [, name = "", quoted, bare] = DIRECTIVE.exec(text) ?? [];
    if (name === "" || directives.has(name)) return undefined;
    directives.set(name, quoted === undefined ? (bare ?? "") : quoted.replace(/\\([\s\S])/g, "$1"));
  }
  return directives;
}
