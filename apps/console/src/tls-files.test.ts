import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AUTHORITY, CLIENT_GOOD, HOST } from "@zooid/embedded-server/testing/certificates";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TlsFiles, tlsOfFiles } from "./tls-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-console-tls-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const NONE: TlsFiles = {
  authorities: undefined,
  certificate: undefined,
  key: undefined,
  keyPassword: undefined,
  serverName: undefined,
};

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("files are read again for each connection", () => {
  const certificate = file("cert.pem", HOST.cert);
  const key = file("key.pem", HOST.key);
  const options = tlsOfFiles({ ...NONE, authorities: file("ca.pem", AUTHORITY), certificate, key, serverName: "zk" });
  expect(options()).toMatchObject({ servername: "zk", ca: Buffer.from(AUTHORITY), cert: Buffer.from(HOST.cert) });
  writeFileSync(certificate, CLIENT_GOOD.cert);
  writeFileSync(key, CLIENT_GOOD.key);
  expect(options()).toMatchObject({ cert: Buffer.from(CLIENT_GOOD.cert) });
});

test("a missing file, and a key of another certificate, are reported at the start", () => {
  expect(() => tlsOfFiles({ ...NONE, authorities: join(folder, "none.pem") })).toThrow("ENOENT");
  const certificate = file("cert.pem", HOST.cert);
  expect(() => tlsOfFiles({ ...NONE, certificate, key: file("key.pem", CLIENT_GOOD.key) })).toThrow();
});
