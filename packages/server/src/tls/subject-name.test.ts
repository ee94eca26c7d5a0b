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
  for (let bytes = 0; bytes < 200; bytes++) expect(() => subjectName(certificate.subarray(0, bytes))).toThrow();
});
