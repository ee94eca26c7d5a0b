import { createRequire } from "node:module";
import type forge from "node-forge";

/** At the first certificate: it is large, and most servers have no client with one. */
const loadLibrary = (): typeof forge => createRequire(import.meta.url)("node-forge");

/** Attributes that RFC 2253 names; all others are written by their number. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ["2.5.4.3", "CN"],
  ["2.5.4.6", "C"],
  ["2.5.4.7", "L"],
  ["2.5.4.8", "ST"],
  ["2.5.4.9", "STREET"],
  ["2.5.4.10", "O"],
  ["2.5.4.11", "OU"],
  ["0.9.2342.19200300.100.1.1", "UID"],
  ["0.9.2342.19200300.100.1.25", "DC"],
]);
/** ASN.1's tag of strings of 16-bit characters. */
const BMP_STRING = 0x1e;
/**
 * String types, which are shown as text: UTF-8, printable, IA5, teletex, general and BMP strings.
 */
const TEXT_TYPES: ReadonlySet<number> = new Set([0x0c, 0x13, 0x16, 0x14, 0x1b, BMP_STRING]);

/**
 * A longer subject could be no identity: those are bounded as text, and each character takes few
 * bytes here.
 */
const SUBJECT_BYTES_MAX = 8 * 1024;

/**
 * The subject of a certificate, in RFC 2253's form as Java prints it. It is the id of the scheme
 * `x509` in access lists.
 *
 * @param certificate in DER
 * @throws RangeError if it is none, or its subject is too long or cannot be printed
 */
export function subjectName(certificate: Buffer): string {
  const subject = subjectBytes(certificate);
  if (subject.length > SUBJECT_BYTES_MAX) {
    throw new RangeError(`its subject has ${subject.length} bytes, more than ${SUBJECT_BYTES_MAX}`);
  }
  const { asn1 } = loadLibrary();
  try {
    return valuesOf(asn1.fromDer(subject.toString("latin1")))
      .map((set) =>
        valuesOf(set)
          .map((node) => attribute(asn1, node))
          .join("+"),
      )
      .reverse()
      .join(",");
  } catch (cause) {
    // The library's errors have no class of their own. OpenSSL takes what it does not: object
    // identifiers beyond 2^53, for one.
    if (cause instanceof RangeError || !(cause instanceof Error)) throw cause;
    throw new RangeError(`its subject cannot be read: ${cause.message}`, { cause });
  }
}

const SEQUENCE = 0x30;
const VERSION = 0xa0;
/** Serial number, algorithm, issuer and validity. */
const FIELDS_BEFORE_SUBJECT = 4;

/**
 * The subject of a certificate, as it lies there: the rest may be of any length, and is not parsed.
 */
function subjectBytes(certificate: Buffer): Buffer {
  const signed = insideOf(insideOf(certificate));
  // Certificates of version 1 leave the version out.
  let rest = signed[0] === VERSION ? signed.subarray(elementEnd(signed).end) : signed;
  for (let field = 0; field < FIELDS_BEFORE_SUBJECT; field++) rest = rest.subarray(elementEnd(rest).end);
  if (rest[0] !== SEQUENCE) throw noSubject();
  return rest.subarray(0, elementEnd(rest).end);
}

function insideOf(bytes: Buffer): Buffer {
  if (bytes[0] !== SEQUENCE) throw noSubject();
  const { start, end } = elementEnd(bytes);
  return bytes.subarray(start, end);
}

/** Where the content of the element at the beginning starts and ends. */
function elementEnd(bytes: Buffer): { readonly start: number; readonly end: number } {
  const first = bytes[1] ?? 0;
  // Beyond 0x80 it says how many bytes of the length follow; no certificate needs more than four.
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const start = 2 + lengthBytes;
  if (bytes.length < start || lengthBytes > 4 || first === 0x80) throw noSubject();
  const end = start + (lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes));
  if (end > bytes.length) throw noSubject();
  return { start, end };
}

function valuesOf(node: forge.asn1.Asn1 | undefined): readonly forge.asn1.Asn1[] {
  if (node === undefined || typeof node.value === "string") throw noSubject();
  return node.value;
}

function noSubject(): RangeError {
  return new RangeError("this is no certificate with a subject");
}

function attribute(asn1: typeof forge.asn1, node: forge.asn1.Asn1): string {
  const [type, value] = valuesOf(node);
  if (typeof type?.value !== "string" || value === undefined) throw new RangeError("a certificate's name is cut short");
  const id = asn1.derToOid(type.value);
  const name = NAMES.get(id);
  if (name === undefined || typeof value.value !== "string" || !TEXT_TYPES.has(value.type)) {
    return `${name ?? id}=#${asn1.toDer(value).toHex()}`;
  }
  // The library has decoded the characters of BMP strings, and left the bytes of others.
  const text = value.type === BMP_STRING ? value.value : Buffer.from(value.value, "latin1").toString("utf8");
  return `${name}=${escaped(text)}`;
}

function escaped(text: string): string {
  const marked = text.replace(/[,=+<>#;"\\]/g, "\\$&").replaceAll("\0", "\\00");
  const blanks = (part: string): string => part.replace(/[ \r]/g, "\\$&");
  const bare = marked.replace(/^[ \r]+/, blanks);
  let end = bare.length;
  while (bare[end - 1] === " " || bare[end - 1] === "\r") end--;
  return bare.slice(0, end) + blanks(bare.slice(end));
}
