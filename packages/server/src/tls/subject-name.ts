import forge from "node-forge";

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
const { Type } = forge.asn1;
/**
 * String types, which are shown as text. The fourth and fifth, teletex and general ones, have no
 * name in the library.
 */
const TEXT_TYPES: ReadonlySet<number> = new Set([
  Type.UTF8,
  Type.PRINTABLESTRING,
  Type.IA5STRING,
  0x14,
  0x1b,
  Type.BMPSTRING,
]);

/**
 * The subject of a certificate, in RFC 2253's form as Java prints it. It is the id of the scheme
 * `x509` in access lists.
 *
 * @param certificate in DER; throws if it is none
 */
export function subjectName(certificate: Buffer): string {
  const [signed] = valuesOf(forge.asn1.fromDer(certificate.toString("latin1")));
  const fields = valuesOf(signed);
  // Certificates of version 1 leave the version out.
  const hasVersion = fields[0]?.tagClass === forge.asn1.Class.CONTEXT_SPECIFIC;
  return valuesOf(fields[hasVersion ? 5 : 4])
    .map((set) => valuesOf(set).map(attribute).join("+"))
    .reverse()
    .join(",");
}

function valuesOf(node: forge.asn1.Asn1 | undefined): readonly forge.asn1.Asn1[] {
  if (node === undefined || typeof node.value === "string")
    throw new RangeError("this is no certificate with a subject");
  return node.value;
}

function attribute(node: forge.asn1.Asn1): string {
  const [type, value] = valuesOf(node);
  if (typeof type?.value !== "string" || value === undefined) throw new RangeError("a certificate's name is cut short");
  const id = forge.asn1.derToOid(type.value);
  const name = NAMES.get(id);
  if (name === undefined || typeof value.value !== "string" || !TEXT_TYPES.has(value.type)) {
    return `${name ?? id}=#${forge.asn1.toDer(value).toHex()}`;
  }
  // The library has decoded the characters of BMP strings, and left the bytes of others.
  const text = value.type === Type.BMPSTRING ? value.value : Buffer.from(value.value, "latin1").toString("utf8");
  return `${name}=${escaped(text)}`;
}

function escaped(text: string): string {
  const marked = text.replace(/[,=+<>#;"\\]/g, "\\$&").replaceAll("\0", "\\00");
  const blanks = (part: string): string => part.replace(/[ \r]/g, "\\$&");
  return marked.replace(/^[ \r]+/, blanks).replace(/(?<![ \r])[ \r]+$/, blanks);
}
