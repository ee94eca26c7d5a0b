import { DIGEST_MD5_FIRST_USE, digestMd5Bytes, digestMd5Response } from "./digest-md5.ts";
import { digestMd5Directives } from "./digest-md5-directives.ts";

export interface DigestMd5Login {
  readonly username: string;
  readonly password: string;
  /** A value that was never used before. */
  readonly cnonce: string;
  /** The service and the server's name. */
  readonly uri: string;
}

export interface DigestMd5Answer {
  /** The response to the server. */
  readonly response: Uint8Array;
  /** Whether the server's last token shows that it knows the password. */
  isProof(token: Uint8Array): boolean;
}

/**
 * A client's answer to the challenge of a server by DIGEST-MD5.
 *
 * @returns what is wrong with the challenge, as the end of a sentence that begins with the server
 */
export function answerDigestMd5(
  challenge: Uint8Array,
  { username, password, cnonce, uri }: DigestMd5Login,
  md5: (bytes: Uint8Array) => Uint8Array,
): DigestMd5Answer | string {
  const directives = directivesOf(challenge);
  if (directives === undefined) return "the server's challenge is no list of directives";
  const nonce = directives.get("nonce");
  if (nonce === undefined) return "the server's challenge has no nonce";
  const offered = (directives.get("qop") ?? "auth").split(",").map((each) => each.trim());
  if (!offered.includes("auth")) return `the server offers ${offered.join(", ")} and not auth`;
  const realm = directives.get("realm") ?? "";
  const isUtf8 = directives.get("charset")?.toLowerCase() === "utf-8";
  const fields = {
    user: digestMd5Bytes(username),
    realm: digestMd5Bytes(realm),
    password: digestMd5Bytes(password),
    nonce,
    nonceCount: DIGEST_MD5_FIRST_USE,
    cnonce,
    uri,
  };
  const expected = digestMd5Response(fields, "server", md5);
  const response = [
    ...(isUtf8 ? ["charset=utf-8"] : []),
    `username=${quoted(username)},realm=${quoted(realm)},nonce=${quoted(nonce)},nc=${DIGEST_MD5_FIRST_USE}`,
    `cnonce=${quoted(cnonce)},digest-uri=${quoted(uri)},response=${digestMd5Response(fields, "client", md5)},qop=auth`,
  ].join(",");
  return {
    response: Buffer.from(response, isUtf8 ? "utf8" : "latin1"),
    isProof: (token) => isEqual(directivesOf(token)?.get("rspauth") ?? "", expected),
  };
}

/** By their names in small letters; of several with one name, such as realms, the last one. */
function directivesOf(token: Uint8Array): ReadonlyMap<string, string> | undefined {
  const directives = digestMd5Directives(Buffer.from(token).toString("latin1"));
  return directives && new Map(directives.map(({ name, value }) => [name.toLowerCase(), value]));
}

/** Takes as long for each text of the same length. */
function isEqual(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
