/**
 * The computations of both sides of an exchange by DIGEST-MD5 (RFC 2831). MD5 is passed in, since
 * this package uses no modules of the platform.
 */

/** The name of ZooKeeper's servers in every exchange, with any host. */
export const DIGEST_MD5_SERVICE = "zookeeper";
export const DIGEST_MD5_SERVER = "zk-sasl-md5";
/** A nonce is used once. */
export const DIGEST_MD5_FIRST_USE = "00000001";

export interface DigestMd5Fields {
  /** As {@link digestMd5Bytes} gives them. */
  readonly user: Uint8Array;
  readonly realm: Uint8Array;
  readonly password: Uint8Array;
  /** From here on each character stands for one byte. */
  readonly nonce: string;
  readonly nonceCount: string;
  readonly cnonce: string;
  readonly uri: string;
  /** The identity to act as, where the client names one. */
  readonly authzid?: string | undefined;
}

/** The side that proves to know the password: the values differ in a prefix alone. */
export type DigestMd5Side = "client" | "server";

/** The response value of RFC 2831, 2.1.2.1, for the quality of protection `auth`. */
export function digestMd5Response(
  fields: DigestMd5Fields,
  side: DigestMd5Side,
  md5: (bytes: Uint8Array) => Uint8Array,
): string {
  const { user, realm, password, nonce, nonceCount, cnonce, uri, authzid } = fields;
  const hex = (bytes: Uint8Array): string => Buffer.from(md5(bytes)).toString("hex");
  const secret = md5(Buffer.concat([user, COLON, realm, COLON, password]));
  const authorization = authzid === undefined ? "" : `:${authzid}`;
  const a1 = hex(Buffer.concat([secret, latin1(`:${nonce}:${cnonce}${authorization}`)]));
  const a2 = hex(latin1(`${side === "client" ? "AUTHENTICATE:" : ":"}${uri}`));
  return hex(latin1(`${a1}:${nonce}:${nonceCount}:${cnonce}:auth:${a2}`));
}

/**
 * The bytes that are hashed: text that fits into ISO 8859-1 in that, in any encoding of its sender:
 * RFC 2831, 2.1.2.1.
 */
export function digestMd5Bytes(text: string): Uint8Array {
  const isWide = [...text].some((char) => (char.codePointAt(0) ?? 0) > 0xff);
  return isWide ? Buffer.from(text, "utf8") : latin1(text);
}

const COLON = Buffer.from(":");

function latin1(text: string): Buffer {
  return Buffer.from(text, "latin1");
}
