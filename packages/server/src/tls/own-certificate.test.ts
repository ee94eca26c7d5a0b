import { HOST_PKCS12, PASSWORD } from "@zooid/java-files/testing/stores";
import { expect, test } from "vitest";
import { HOST } from "../testing/certificates.ts";
import { notAfterSeconds, ownCertificate } from "./own-certificate.ts";

test.each([
  ["PEM", { key: HOST.key, cert: HOST.cert }],
  ["PKCS#12", { pfx: HOST_PKCS12, passphrase: PASSWORD }],
])("the own certificate of a %s store is found, with its end", (_, options) => {
  const certificate = ownCertificate(options);
  expect(certificate?.subject).toContain("CN=");
  expect(new Date((notAfterSeconds(certificate) ?? 0) * 1000).getUTCFullYear()).toBe(2125);
});

test("without a certificate there is none, nor with one that cannot be used", () => {
  expect(ownCertificate({})).toBeUndefined();
  expect(ownCertificate({ key: HOST.key, cert: "none" })).toBeUndefined();
  expect(notAfterSeconds(undefined)).toBeUndefined();
});
