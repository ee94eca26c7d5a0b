import { X509Certificate } from "node:crypto";
import { MANY_NAMES } from "@zooid/java-files/testing/stores";
import { expect, test } from "vitest";
import { AUTHORITY, ONE } from "../testing/certificates.ts";
import { subjectName } from "./subject-name.ts";

const der = (pem: string): Buffer => new X509Certificate(pem).raw;

// The names that Java's X500Principal.getName() gives.
test.each([
  [ONE.cert, "CN=one"],
  [AUTHORITY, "CN=zooid test authority"],
  [
    MANY_NAMES,
    String.raw`CN=\ \#Jürgen \; \"the\" \\\ ,1.2.840.113549.1.9.1=#16056140622e63,OU=one+UID=two,O=A\, B & Co \<x\>\=\"q\",ST=Some State,C=DE`,
  ],
])("a certificate's subject is printed as Java prints it", (pem, name) => {
  expect(subjectName(der(pem))).toBe(name);
});

test("bytes that are no certificate have no name", () => {
  const certificate = der(MANY_NAMES);
  for (let bytes = 0; bytes < 200; bytes++)
    expect(() => subjectName(certificate.subarray(0, bytes))).toThrow(RangeError);
});

/** An element of DER, and its content. */
function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const length =
    body.length < 0x80 ? [body.length] : [0x83, body.length >> 16, (body.length >> 8) & 0xff, body.length & 0xff];
  return Buffer.concat([Uint8Array.of(tag, ...length), body]);
}

/**
 * As much of a certificate as has a subject, which consists of units, each by a type and a value of
 * ASN.1.
 */
function certificateWith(units: readonly (readonly [oid: Uint8Array, value: Uint8Array])[]): Buffer {
  const names = units.map(([oid, value]) => element(0x31, element(0x30, element(0x06, oid), value)));
  const field = element(0x30);
  return element(
    0x30,
    element(0x30, element(0x02, Uint8Array.of(1)), field, field, field, element(0x30, ...names)),
    field,
  );
}

test("a certificate whose subject is no list of names has no name", () => {
  const field = element(0x30);
  const text = element(0x0c, Buffer.from("x"));
  const signed = element(0x30, element(0x02, Uint8Array.of(1)), field, field, field, text);
  expect(() => subjectName(element(0x30, signed, field))).toThrow(RangeError);
});

const UNIT = Uint8Array.of(0x55, 0x04, 0x0b);
const utf8 = (text: string): Buffer => element(0x0c, Buffer.from(text));

test.each<[string, Buffer, string]>([
  ["NULs and line breaks", certificateWith([[UNIT, utf8("a\0b\nc")]]), "OU=a\\00b\nc"],
  ["UTF-8 that is none", certificateWith([[UNIT, element(0x0c, Uint8Array.of(0xff, 0x41))]]), "OU=\ufffdA"],
  ["a value that is a list", certificateWith([[UNIT, element(0x30, utf8("x"))]]), "OU=#30030c0178"],
  ["no parts", certificateWith([]), ""],
])("a subject with %s is printed", (_, certificate, name) => {
  expect(subjectName(certificate)).toBe(name);
});

test.each<[string, Buffer]>([
  [
    "an object identifier beyond 2^53",
    certificateWith([[Uint8Array.of(0x2a, ...new Array(9).fill(0xff), 0x7f), utf8("x")]]),
  ],
  ["thousands of parts", certificateWith(new Array(3000).fill([UNIT, utf8("unit")]))],
  ["a long part", certificateWith([[UNIT, utf8("u".repeat(60_000))]])],
  [
    "lists in each other",
    certificateWith([[UNIT, new Array(500).fill(0).reduce<Buffer>((inner) => element(0x30, inner), utf8("x"))]]),
  ],
  ["a part without a value", certificateWith([[UNIT, Buffer.alloc(0)]])],
])("a subject with %s is refused", (_, certificate) => {
  expect(() => subjectName(certificate)).toThrow(RangeError);
});
