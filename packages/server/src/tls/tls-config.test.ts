import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCiphers } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AUTHORITY, EMPTY_REVOCATION_LIST, HOST, REVOCATION_LIST } from "../testing/certificates.ts";
import { opensslCipher } from "./cipher-suites.ts";
import { parseTls, type TlsOptions } from "./tls-config.ts";

let folder: string;
let whole: TlsOptions;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-tls-"));
  const location = join(folder, "host.pem");
  const trusted = join(folder, "ca.pem");
  writeFileSync(location, HOST.key + HOST.cert, { mode: 0o600 });
  writeFileSync(trusted, AUTHORITY);
  whole = { keyStore: { location }, trustStore: { location: trusted } };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function problemsOf(options: TlsOptions): readonly string[] {
  const problems: string[] = [];
  const config = parseTls(options, "ssl", problems, []);
  expect(config === undefined).toBe(problems.length > 0);
  return problems;
}

function contextOf(options: TlsOptions): unknown {
  return parseTls({ ...whole, ...options }, "ssl", [], [])?.context;
}

test("by default clients need a certificate, and TLS 1.2 and 1.3 are spoken", () => {
  const config = parseTls(whole, "ssl", [], []);
  expect(config).toMatchObject({ clientAuth: "need", handshakeTimeoutMs: 5000, watched: [] });
  expect(contextOf({})).toMatchObject({ minVersion: "TLSv1.2", maxVersion: "TLSv1.3", ca: [AUTHORITY.trim()] });
});

test.each<[TlsOptions, string, string]>([
  [{ protocol: "TLSv1.2" }, "TLSv1.2", "TLSv1.2"],
  [{ enabledProtocols: ["TLSv1.3"] }, "TLSv1.3", "TLSv1.3"],
  [{ protocol: "TLSv1.2", enabledProtocols: ["TLSv1.3", "TLSv1.2"] }, "TLSv1.2", "TLSv1.3"],
])("%j speaks from %s to %s", (options, minVersion, maxVersion) => {
  expect(contextOf(options)).toMatchObject({ minVersion, maxVersion });
});

test("suites are offered by the platform's names", () => {
  const cipherSuites = ["TLS_AES_256_GCM_SHA384", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"];
  expect(contextOf({ cipherSuites })).toMatchObject({
    ciphers: "TLS_AES_256_GCM_SHA384:ECDHE-ECDSA-CHACHA20-POLY1305",
  });
});

test("the files that were read are watched where they are read again, and no others", () => {
  const [location, trusted, crlFile] = [join(folder, "host.pem"), join(folder, "ca.pem"), join(folder, "list.pem")];
  const [passwordPath, trustedPassword] = [join(folder, "host.password"), join(folder, "ca.password")];
  for (const file of [passwordPath, trustedPassword]) writeFileSync(file, "none", { mode: 0o600 });
  writeFileSync(crlFile, EMPTY_REVOCATION_LIST);
  // As Kubernetes' secrets have them.
  const [key, certificate] = [join(folder, "tls.key"), join(folder, "tls.crt")];
  writeFileSync(key, HOST.key, { mode: 0o600 });
  writeFileSync(certificate, HOST.cert);
  const stores = { keyStore: { location, passwordPath }, trustStore: { location: trusted } };
  const withPassword = { ...stores, trustStore: { location: trusted, passwordPath: trustedPassword } };
  const rows: readonly (readonly [TlsOptions, readonly string[]])[] = [
    [whole, [location, trusted]],
    [stores, [location, passwordPath, trusted]],
    [withPassword, [location, passwordPath, trusted, trustedPassword]],
    [{ ...withPassword, crlFile }, [location, passwordPath, trusted, trustedPassword, crlFile]],
    [{ ...whole, crlFile, crl: false }, [location, trusted]],
    [{ keyStore: { location }, trustStore: {}, clientAuth: "none" }, [location]],
    [{ keyStore: { location: key }, trustStore: {}, clientAuth: "none" }, [key, certificate]],
  ];
  for (const [options, files] of rows) {
    expect(parseTls(options, "ssl", [], [])).toMatchObject({ files, watched: [] });
    for (const certReload of [false, true]) {
      const config = parseTls({ ...options, certReload }, "ssl", [], []);
      expect(config).toMatchObject({ files, watched: certReload ? files : [] });
    }
  }
});

test("no authority is trusted by default", () => {
  const { trustStore: _, ...rest } = whole;
  expect(contextOf({ ...rest, trustStore: {}, clientAuth: "none" })).toMatchObject({ ca: [] });
});

describe("a problem is", () => {
  test.each<[string, TlsOptions, string]>([
    ["no key store", { keyStore: {} }, "ssl.keyStore.location"],
    ["no authority for clients", { trustStore: {} }, "ssl.clientAuth=none asks for none"],
    ["a mode that does not exist", { clientAuth: "maybe" }, 'found "maybe"'],
    ["an old version", { enabledProtocols: ["TLSv1.1", "TLSv1.2"] }, 'found "TLSv1.1"'],
    ["an old newest version", { protocol: "SSLv3" }, 'found "SSLv3"'],
    ["an unknown suite", { cipherSuites: ["TLS_MAGIC"] }, "TLS_MAGIC"],
    ["a weak suite", { cipherSuites: ["TLS_RSA_WITH_RC4_128_SHA"] }, "too weak"],
    ["no time", { handshakeTimeoutMs: 0 }, "handshakeDetectionTimeoutMillis"],
    ["no file of revocation lists", { crl: true }, "ssl.crl=true needs zooid.ssl.crlFile=FILE"],
    [
      "a file of lists that is missing",
      { crlFile: "/no/such/list.pem" },
      "zooid.ssl.crlFile: /no/such/list.pem cannot",
    ],
    ["a limit below none", { handshakeCountMax: -2 }, "outstandingHandshake"],
  ])("%s", (_, options, part) => {
    expect(problemsOf({ ...whole, ...options })).toEqual([expect.stringContaining(part)]);
  });
});

test.each([
  ["TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"],
  ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"],
  ["TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"],
  ["TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256"],
  ["TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384", "ECDHE-RSA-AES256-SHA384"],
  ["TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"],
  ["TLS_DHE_RSA_WITH_AES_128_GCM_SHA256", "DHE-RSA-AES128-GCM-SHA256"],
  ["TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"],
])("%s is %s to the platform, which has it", (java, name) => {
  expect(opensslCipher(java)).toBe(name);
  expect(getCiphers()).toContain(name.toLowerCase());
});

test.each([
  ["no list", AUTHORITY, "holds no list in PEM"],
  ["a list that is damaged", REVOCATION_LIST.replace(/\n.{8}/, "\nAAAAAAAA"), "cannot be used"],
])("a file of %s is a problem", (_, text, part) => {
  const crlFile = join(folder, "list.pem");
  writeFileSync(crlFile, text);
  expect(problemsOf({ ...whole, crl: true, crlFile })).toEqual([expect.stringContaining(part)]);
});

test("lists are checked where a file is named, unless that is turned off", () => {
  const crlFile = join(folder, "lists.pem");
  writeFileSync(crlFile, REVOCATION_LIST + EMPTY_REVOCATION_LIST);
  expect(contextOf({ crlFile })).toMatchObject({ crl: [REVOCATION_LIST.trim(), EMPTY_REVOCATION_LIST.trim()] });
  expect(parseTls({ ...whole, crlFile }, "ssl", [], [])?.files).toContain(crlFile);
  expect(contextOf({ crlFile, crl: false })).not.toHaveProperty("crl");
});

test("large lists are a notice with what they cost each handshake", () => {
  const crlFile = join(folder, "lists.pem");
  const notices: string[] = [];
  writeFileSync(crlFile, REVOCATION_LIST.repeat(Math.ceil((3 * 1024 * 1024) / REVOCATION_LIST.length)));
  expect(parseTls({ ...whole, crlFile }, "ssl", [], notices)).toBeDefined();
  expect(notices).toEqual([expect.stringMatching(/^zooid\.ssl\.crlFile: .* has 3\.0 MiB of lists: .* about 6 ms/)]);
});

test("files are read again, and refused while they are invalid", () => {
  const location = join(folder, "changing.pem");
  writeFileSync(location, HOST.key + HOST.cert, { mode: 0o600 });
  const config = parseTls({ ...whole, keyStore: { location } }, "ssl", [], []);
  writeFileSync(location, HOST.key);
  expect(config?.reload()).toEqual([expect.stringContaining("changing.pem")]);
  writeFileSync(location, HOST.key + HOST.cert);
  expect(config?.reload()).toMatchObject({ minVersion: "TLSv1.2" });
});
