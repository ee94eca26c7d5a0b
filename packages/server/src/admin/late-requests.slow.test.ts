import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AUTHORITY, HOST } from "../testing/certificates.ts";
import { startTestServer } from "../testing/server.ts";
import type { AdminOptions } from "./http-options.ts";

let folder: string;
let secured: AdminOptions;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "zooid-late-requests-"));
  const keyStore = { location: join(folder, "host.pem") };
  const trustStore = { location: join(folder, "ca.pem") };
  writeFileSync(keyStore.location, HOST.key + HOST.cert, { mode: 0o600 });
  writeFileSync(trustStore.location, AUTHORITY);
  secured = { port: 0, tls: { keyStore, trustStore } };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const trust = { ca: AUTHORITY, checkServerIdentity: () => undefined };

test.concurrent.each([
  ["HTTP", (): AdminOptions => ({ port: 0 }), false],
  ["HTTP beside HTTPS", (): AdminOptions => ({ ...secured, portUnification: true }), false],
  ["HTTPS beside HTTP", (): AdminOptions => ({ ...secured, portUnification: true }), true],
  ["HTTPS alone", (): AdminOptions => ({ ...secured, forceHttps: true }), true],
])("a request whose headers never end is refused: %s", async (_, options, isSecure) => {
  await using zk = await startTestServer({ admin: options() });
  const place = { port: zk.adminPort ?? 0, host: "127.0.0.1" };
  const socket = isSecure ? connectTls({ ...place, ...trust }) : connect(place);
  socket.write("GET /readyz HTTP/1.1\r\nHost: ");
  let answer = "";
  for await (const chunk of socket) answer += chunk;
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});
