import { createHash, randomBytes } from "node:crypto";
import { checkArgument, checkPassword, checkRecord, rules, type Shape, shape } from "@zooid/model";
import { answerDigestMd5, DIGEST_MD5_SERVER, DIGEST_MD5_SERVICE, type DigestMd5Answer } from "@zooid/wire";
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
  #answer: DigestMd5Answer | undefined;

  constructor(user: DigestMd5User, cnonce: string) {
    this.#user = user;
    this.#cnonce = cnonce;
  }

  next(token: Uint8Array): Uint8Array | undefined {
    if (this.#answer !== undefined) {
      if (!this.#answer.isProof(token)) throw new Error("the server did not prove that it knows the password");
      return undefined;
    }
    // Servers without SASL answer with nothing.
    if (token.length === 0) throw new Error("this server has no SASL");
    const answer = answerDigestMd5(token, { ...this.#user, cnonce: this.#cnonce, uri: URI }, md5);
    if (typeof answer === "string") throw new Error(answer);
    this.#answer = answer;
    return answer.response;
  }
}

function md5(bytes: Uint8Array): Buffer {
  return createHash("md5").update(bytes).digest();
}
