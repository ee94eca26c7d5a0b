import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { AUTHORITY, CLIENT_EXPIRED, HOST, ONE, STRANGER } from "@zooid/embedded-server/testing/certificates";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConsoleServer } from "./console-server.ts";
import { ROLES_OF_REQUESTERS } from "./testing/requesters.ts";
import { rightsAt } from "./testing/rights.ts";
import { callApi } from "./testing/stage.ts";

let folder: string;
let server: ZooidServer;
/** It asks for a certificate of {@link AUTHORITY}. */
let strict: ZooidServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-console-"));
  writeFileSync(join(folder, "server.pem"), HOST.key + HOST.cert, { mode: 0o600 });
  server = await startServer({
    port: 0,
    securePort: 0,
    fourLetterWords: "*",
    tls: { keyStore: { location: join(folder, "server.pem") }, clientAuth: "none" },
  });
  writeFileSync(join(folder, "authority.pem"), AUTHORITY);
  const keyStore = { location: join(folder, "server.pem") };
  const trustStore = { location: join(folder, "authority.pem") };
  strict = await startServer({
    port: 0,
    securePort: 0,
    fourLetterWords: "*",
    tls: { keyStore, trustStore, clientAuth: "need" },
  });
});
afterAll(async () => {
  await Promise.all([server.stop(), strict.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

test("nodes, members and sessions are read over TLS", async () => {
  const hosts = `127.0.0.1:${server.securePort}`;
  await using found = new ConsoleServer({ port: 0, address: "127.0.0.1", hosts, client: { tls: { ca: AUTHORITY } } });
  await found.listen();
  const url = `http://127.0.0.1:${found.port}/api/v1`;
  expect(await callApi(`${url}/node?path=/`, "GET")).toMatchObject({ status: 200 });
  const { json } = await callApi(`${url}/ensemble`, "GET");
  expect(json.members).toMatchObject([{ address: hosts, isReachable: true, role: "standalone" }]);
  expect((await callApi(`${url}/sessions`, "GET")).json).toMatchObject({ notes: [], total: 1 });
});

test("a server whose certificate is not trusted is not talked to", async () => {
  const hosts = `127.0.0.1:${server.securePort}`;
  const client = { tls: {}, waitingTimeoutMs: 300 };
  await using found = new ConsoleServer({ port: 0, address: "127.0.0.1", hosts, client });
  await found.listen();
  const url = `http://127.0.0.1:${found.port}/api/v1`;
  expect(await callApi(`${url}/node?path=/`, "GET")).toMatchObject({ status: 503 });
});

test("the console's own certificate gives no requester a role, though its subject has one", async () => {
  const hosts = `127.0.0.1:${strict.securePort}`;
  const roles = { ...ROLES_OF_REQUESTERS, operators: [...(ROLES_OF_REQUESTERS.operators ?? []), "x509:CN=one"] };
  const tls = { ca: AUTHORITY, cert: ONE.cert, key: ONE.key };
  await using found = new ConsoleServer({ port: 0, address: "127.0.0.1", hosts, client: { tls }, roles });
  await found.listen();
  const api = `http://127.0.0.1:${found.port}/api/v1`;
  await using zk = await connect(strict.connectString);
  const { faults, refusedCount } = await rightsAt(api, zk);
  expect(faults).toEqual([]);
  expect(refusedCount).toBeGreaterThan(400);
});

test.each([
  ["none", {}],
  ["one of another authority", { cert: STRANGER.cert, key: STRANGER.key }],
  ["one that has expired", { cert: CLIENT_EXPIRED.cert, key: CLIENT_EXPIRED.key }],
])("where servers ask for a certificate, a console with %s reads and changes nothing", async (_name, own) => {
  const hosts = `127.0.0.1:${strict.securePort}`;
  const client = { tls: { ca: AUTHORITY, ...own }, waitingTimeoutMs: 300 };
  await using found = new ConsoleServer({ port: 0, address: "127.0.0.1", hosts, client });
  await found.listen();
  const url = `http://127.0.0.1:${found.port}/api/v1`;
  const requests = [callApi(`${url}/node?path=/`, "GET"), callApi(`${url}/node`, "POST", { body: { path: "/made" } })];
  for (const answer of await Promise.all(requests)) expect(answer.status).toBe(503);
  await using zk = await connect(strict.connectString);
  expect(await zk.exists("/made")).toBeNull();
});
