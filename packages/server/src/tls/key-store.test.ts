import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AUTHORITY_JKS,
  AUTHORITY_OLD_PKCS12,
  AUTHORITY_PKCS12,
  HOST_ENCRYPTED_KEY,
  HOST_JKS,
  HOST_PKCS12,
  PASSWORD,
} from "@zooid/java-files/testing/stores";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AUTHORITY, HOST, ONE } from "../testing/certificates.ts";
import { survivesFlippedBytes } from "../testing/flipped-store.ts";
import { type KeyStoreOptions, readKeyStore, readTrustStore } from "./key-store.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-stores-"));
  const files: Readonly<Record<string, string | Buffer>> = {
    "host.pem": HOST.key + HOST.cert,
    "encrypted.pem": HOST_ENCRYPTED_KEY + HOST.cert,
    "mixed.pem": ONE.key + HOST.cert,
    "key-behind.pem": HOST.cert + HOST.key,
    "rsa.pem": pemOf(generateKeyPairSync("rsa", { modulusLength: 2048 })) + HOST.cert,
    "ec.pem": pemOf(generateKeyPairSync("ec", { namedCurve: "prime256v1" })) + HOST.cert,
    "ed25519.pem": pemOf(generateKeyPairSync("ed25519")) + HOST.cert,
    "authority-first.pem": HOST.key + AUTHORITY + HOST.cert,
    "keyless.pem": HOST.cert,
    "certless.pem": HOST.key,
    "damaged.pem": `${HOST.key}-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n`,
    "other.p12": "no store",
    "host.p12": HOST_PKCS12,
    "ca.pem": `${AUTHORITY}\nwhat stands between does not matter\n${HOST.cert}`,
    "ca.p12": AUTHORITY_PKCS12,
    "old.p12": AUTHORITY_OLD_PKCS12,
    "ca.jks": AUTHORITY_JKS,
    "host.jks": HOST_JKS,
    "renamed.jks": HOST_PKCS12,
    "renamed.p12": HOST_JKS,
    "store.bcfks": "",
    "garbage.jks": AUTHORITY_JKS.subarray(0, 300),
    "store.unknown": HOST.key + HOST.cert,
    "garbage.pem": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
    "garbage.p12": AUTHORITY_PKCS12.subarray(0, 300),
    "empty.pem": "",
    "tls.key": HOST.key,
    "tls.crt": HOST.cert + AUTHORITY,
    "ca.crt": AUTHORITY,
    "whole.key": HOST.key + HOST.cert,
    "alone.key": HOST.key,
    "other.key": ONE.key,
    "other.crt": HOST.cert,
    "twice.key": HOST.key,
    "twice.crt": HOST.key,
    "password.txt": `${PASSWORD}\r\n`,
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o600 });
  writeFileSync(join(folder, "open.pem"), HOST.key + HOST.cert, { mode: 0o644 });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function pemOf({ privateKey }: { readonly privateKey: KeyObject }): string {
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}

function at(file: string, more: KeyStoreOptions = {}): KeyStoreOptions {
  return { location: join(folder, file), ...more };
}

/** The problems of a store; empty if it can be used. */
function keyStore(options: KeyStoreOptions): { problems: string[]; notices: string[]; isRead: boolean } {
  const problems: string[] = [];
  const notices: string[] = [];
  const isRead = readKeyStore("ssl.keyStore", options, problems, notices) !== undefined;
  return { problems, notices, isRead };
}

function trustStore(options: KeyStoreOptions): { problems: string[]; count: number | undefined } {
  const problems: string[] = [];
  return { count: readTrustStore("ssl.trustStore", options, problems)?.length, problems };
}

describe("a key store can be", () => {
  test.each<[string, () => KeyStoreOptions]>([
    ["PEM", () => at("host.pem")],
    ["PEM with the key behind the certificate", () => at("key-behind.pem")],
    ["PEM with an encrypted key", () => at("encrypted.pem", { password: PASSWORD })],
    ["PKCS#12", () => at("host.p12", { password: PASSWORD })],
    [
      "PKCS#12 with its password in a file, which wins",
      () => {
        return at("host.p12", { password: "wrong", passwordPath: join(folder, "password.txt") });
      },
    ],
    ["Java's own", () => at("host.jks", { password: PASSWORD })],
    ["the newer form by the older's name", () => at("renamed.jks", { password: PASSWORD })],
    ["the older form by the newer's name", () => at("renamed.p12", { password: PASSWORD })],
    ["a key and a certificate beside it, as Kubernetes has them", () => at("tls.key")],
    ["a key file that has its certificate", () => at("whole.key")],
    ["of another name, with its type set", () => at("store.unknown", { type: "pem" })],
  ])("%s", (_, options) => {
    expect(keyStore(options())).toEqual({ problems: [], notices: [], isRead: true });
  });

  test.each([
    [0o600, false],
    [0o440, false],
    [0o660, true],
    [0o644, true],
    [0o604, true],
  ])("of the mode %o, and too open: %s", (mode, isOpen) => {
    const file = `mode-${mode}.pem`;
    writeFileSync(join(folder, file), HOST.key + HOST.cert);
    chmodSync(join(folder, file), mode);
    expect(keyStore(at(file)).notices.length > 0).toBe(isOpen);
  });

  test("open to others, which is reported", () => {
    expect(keyStore(at("open.pem"))).toMatchObject({ isRead: true, notices: [expect.stringContaining("chmod 600")] });
  });
});

describe("a key store is refused that is", () => {
  test.each<[string, () => KeyStoreOptions, string]>([
    ["not there", () => at("nowhere.pem"), "ENOENT"],
    ["of a name without a known extension", () => at("store.unknown"), "ssl.keyStore.type=PEM, PKCS12 or JKS"],
    ["of an unknown type", () => at("host.pem", { type: "DOC" }), 'found "DOC"'],
    ["Java's own, without a key", () => at("ca.jks", { password: PASSWORD }), "ca.jks holds no private key"],
    ["Java's own, of another password", () => at("host.jks", { password: "wrong" }), "its password is another"],
    ["Java's own, without its password", () => at("host.jks"), "has no password"],
    ["of a form that only Java reads", () => at("store.bcfks"), "keytool -importkeystore -srckeystore"],
    ["without a key", () => at("keyless.pem"), "keyless.pem holds no private key in PEM"],
    ["a key and another's certificate", () => at("mixed.pem"), "certificate is not that of its key"],
    ["empty", () => at("empty.pem"), "empty.pem holds no private key in PEM"],
    ["of another password", () => at("host.p12", { password: "wrong" }), "its password is another"],
    ["encrypted, without its password", () => at("encrypted.pem"), "ssl.keyStore.passwordPath has no password"],
    ["encrypted, of another password", () => at("encrypted.pem", { password: "wrong" }), "its password is another"],
    ["a key alone", () => at("certless.pem"), "certless.pem holds no certificate in PEM"],
    ["a key without a certificate beside it", () => at("alone.key"), "alone.crt beside it cannot be read: ENOENT"],
    ["a key beside another's certificate", () => at("other.key"), "certificate is not that of its key"],
    ["a key beside another key", () => at("twice.key"), "twice.key holds no certificate in PEM"],
    ["a key and a damaged certificate", () => at("damaged.pem"), "it is damaged"],
    ["another file by the name of a store", () => at("other.p12", { password: PASSWORD }), "no PKCS12 file"],
    [
      "without its password file",
      () => at("host.p12", { passwordPath: join(folder, "none") }),
      "ssl.keyStore.passwordPath: ENOENT",
    ],
  ])("%s", (_, options, part) => {
    const { problems, isRead } = keyStore(options());
    expect(problems).toEqual([expect.stringContaining(part)]);
    // OpenSSL's own texts have numbers and names of its functions.
    expect(problems[0]).not.toMatch(/error:[0-9A-F]{8}|routines:/);
    expect(isRead).toBe(false);
  });
});

test.each(["mixed", "rsa", "ec", "ed25519", "authority-first"])(
  "a key store in PEM whose certificate is not of its key is refused, of whichever kinds they are: %s",
  (name) => {
    const { isRead, problems } = keyStore(at(`${name}.pem`));
    expect([isRead, problems]).toEqual([
      false,
      [expect.stringMatching(/certificate (?:that )?is not (?:that )?of its key/)],
    ]);
  },
);

describe("a trust store can be", () => {
  test("PEM with several certificates", () => {
    expect(trustStore(at("ca.pem"))).toEqual({ problems: [], count: 2 });
  });

  test("PKCS#12 with certificates and no key", () => {
    expect(trustStore(at("ca.p12", { password: PASSWORD }))).toEqual({ problems: [], count: 1 });
  });

  test("PKCS#12 encrypted as Java and OpenSSL did before 2021", () => {
    expect(trustStore(at("old.p12", { password: PASSWORD }))).toEqual({ problems: [], count: 1 });
  });

  test.each(["ca.jks", "host.jks"])("Java's own, %s", (file) => {
    expect(trustStore(at(file, { password: PASSWORD }))).toEqual({ problems: [], count: 1 });
  });

  test("the PKCS#12 of a server with a key", () => {
    expect(trustStore(at("host.p12", { password: PASSWORD }))).toEqual({ problems: [], count: 1 });
  });
});

describe("a trust store is refused that is", () => {
  test.each<[string, () => KeyStoreOptions, string]>([
    ["empty", () => at("empty.pem"), "holds no certificate"],
    ["of something that is no certificate", () => at("garbage.pem"), "cannot be used"],
    ["cut short", () => at("garbage.p12", { password: PASSWORD }), "cannot be used"],
    ["of another password", () => at("ca.p12", { password: "wrong" }), "its password is another"],
    ["Java's own, cut short", () => at("garbage.jks", { password: PASSWORD }), "cannot be used"],
    ["of a form that only Java reads", () => at("store.bcfks", { password: PASSWORD }), "-deststoretype PKCS12"],
  ])("%s", (_, options, part) => {
    expect(trustStore(options())).toEqual({ problems: [expect.stringContaining(part)], count: undefined });
  });

  test.each([
    ["PKCS#12", "flipped.p12", AUTHORITY_PKCS12],
    ["Java's own", "flipped.jks", AUTHORITY_JKS],
  ])("damaged at any place: it is reported, or harmless (%s)", (_, name, store) =>
    survivesFlippedBytes(store, join(folder, name), 41),
  );
});
