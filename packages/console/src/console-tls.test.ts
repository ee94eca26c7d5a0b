import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { AUTHORITY, HOST } from "@zooid/embedded-server/testing/certificates";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConsoleServer } from "./console-server.ts";
import { callApi } from "./testing/stage.ts";

let folder: string;
let server: ZooidServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-console-"));
  writeFileSync(join(folder, "server.pem"), HOST.key + HOST.cert, { mode: 0o600 });
  server = await startServer({
    ...{ port: 0, securePort: 0, fourLetterWords: "*" },
    tls: { keyStore: { location: join(folder, "server.pem") }, clientAuth: "none" },
  });
});
afterAll(async () => {
  await server.stop();
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
