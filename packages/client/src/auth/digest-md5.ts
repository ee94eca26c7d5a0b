import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { checkArgument, checkPassword, checkRecord, rules, type Shape, shape } from "@zooid/model";
import {
  DIGEST_MD5_FIRST_USE,
  DIGEST_MD5_SERVER,
  DIGEST_MD5_SERVICE,
  digestMd5Bytes,
  digestMd5Directives,
  digestMd5Response,
} from "@zooid/wire";
import type { SaslExchange, SaslMechanism } from "./sasl.ts";

/** A user, as in the server's JAAS file. */
export interface DigestMd5User {
  readonly username: string;
  readonly password: string;
}

const USER: Shape<DigestMd5User> = shape<DigestMd5User>({ username: rules.text, password: rules.anything });

/** The service name that every ZooKeeper client uses. */
const URI = `${DIGEST_MD5_SERVICE}/${DIGEST_MD5_SERVER}`;
const CNONCE_BYTES = 24;

/**
 * SASL with DIGEST-MD5 (RFC 2831): the password is not sent, and the server proves that it knows it
 * too. The rest of the connection is neither encrypted nor signed; use TLS for that.
 */
export function digestMd5(
  user: DigestMd5User,
  newCnonce: () => string = randomCnonce,
): SaslMechanism & { begin(): SaslExchange } {
  checkRecord("digestMd5", user, USER, ["username"]);
  checkPassword("digestMd5", user.password);
  checkArgument("digestMd5", "newCnonce", newCnonce, rules.callable);
  return { name: "DIGEST-MD5", user: user.username, begin: () => new DigestMd5Exchange(user, newCnonce()) };
}

function randomCnonce(): string {
  return randomBytes(CNONCE_BYTES).toString("base64");
}

class DigestMd5Exchange implements SaslExchange {
  readonly first: Uint8Array = Buffer.alloc(0);
  readonly #user: DigestMd5User;
  readonly #cnonce: string;
  /** The proof that the server sends if it knows the password. */
  #expected: string | undefined;

  constructor(user: DigestMd5User, cnonce: string) {
    this.#user = user;
    this.#cnonce = cnonce;
  }

  next(token: Uint8Array): Uint8Array | undefined {
    const directives = parseDirectives(Buffer.from(token).toString("latin1"));
    if (this.#expected !== undefined) {
      const proof = directives.get("rspauth") ?? "";
      if (!isEqual(proof, this.#expected)) throw new Error("the server did not prove that it knows the password");
      return undefined;
    }
    return this.#answer(directives);
  }

  #answer(challenge: ReadonlyMap<string, string>): Uint8Array {
    // Servers without SASL answer with nothing.
    if (challenge.size === 0) throw new Error("this server has no SASL");
    const nonce = challenge.get("nonce");
    if (nonce === undefined) throw new Error("the server's challenge has no nonce");
    const offered = (challenge.get("qop") ?? "auth").split(",").map((each) => each.trim());
    if (!offered.includes("auth")) throw new Error(`the server offers ${offered.join(", ")} and not auth`);
    const { username, password } = this.#user;
    const realm = challenge.get("realm") ?? "";
    const isUtf8 = challenge.get("charset")?.toLowerCase() === "utf-8";
    const fields = {
      user: digestMd5Bytes(username),
      realm: digestMd5Bytes(realm),
      password: digestMd5Bytes(password),
      nonce,
      nonceCount: DIGEST_MD5_FIRST_USE,
      cnonce: this.#cnonce,
      uri: URI,
    };
    this.#expected = digestMd5Response(fields, "server", md5);
    const proof = digestMd5Response(fields, "client", md5);
    const response = [
      ...(isUtf8 ? ["charset=utf-8"] : []),
      `username=${quoted(username)},realm=${quoted(realm)},nonce=${quoted(nonce)},nc=${DIGEST_MD5_FIRST_USE}`,
      `cnonce=${quoted(this.#cnonce)},digest-uri=${quoted(URI)},response=${proof},qop=auth`,
    ].join(",");
    return Buffer.from(response, isUtf8 ? "utf8" : "latin1");
  }
}

function md5(bytes: Uint8Array): Buffer {
  return createHash("md5").update(bytes).digest();
}

function isEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** By their names in small letters; of several with one name, such as realms, the last one. */
function parseDirectives(text: string): ReadonlyMap<string, string> {
  const directives = digestMd5Directives(text);
  if (directives === undefined) throw new Error("the server's challenge is no list of directives");
  return new Map(directives.map(({ name, value }) => [name.toLowerCase(), value]));
}
