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
/** String types, which are shown as text: UTF-8, printable, IA5, teletex, general and BMP strings. */
const TEXT_TYPES: ReadonlySet<number> = new Set([0x0c, 0x13, 0x16, 0x14, 0x1b, BMP_STRING]);

/**
 * The subject of a certificate, in RFC 2253's form as Java prints it. It is the id of the scheme
 * `x509` in access lists.
 *
 * @param certificate in DER; throws if it is none
 */
export function subjectName(certificate: Buffer): string {
  const { asn1 } = loadLibrary();
  const [signed] = valuesOf(asn1.fromDer(certificate.toString("latin1")));
  const fields = valuesOf(signed);
  // Certificates of version 1 leave the version out.
  const hasVersion = fields[0]?.tagClass === asn1.Class.CONTEXT_SPECIFIC;
  return valuesOf(fields[hasVersion ? 5 : 4])
    .map((set) =>
      valuesOf(set)
        .map((node) => attribute(asn1, node))
        .join("+"),
    )
    .reverse()
    .join(",");
}

function valuesOf(node: forge.asn1.Asn1 | undefined): readonly forge.asn1.Asn1[] {
  if (node === undefined || typeof node.value === "string")
    throw new RangeError("this is no certificate with a subject");
  return node.value;
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
