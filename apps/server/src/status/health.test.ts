import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startServer } from "@zooid/embedded-server";
import { expect, test } from "vitest";
import { checkHealth } from "./health.ts";

test("a server that serves is healthy on its admin port, and on its client port where there is no other", async () => {
  await using server = await startServer({ port: 0, admin: { port: 0 } });
  const admin = { port: server.adminPort ?? 0 };
  expect(await checkHealth({ admin })).toMatchObject({ isServing: true, text: expect.stringContaining("ok") });
  expect(await checkHealth({ admin: { ...admin, address: "*" } })).toMatchObject({ isServing: true });
  expect(await checkHealth({ port: server.port, admin: { enabled: false } })).toMatchObject({ isServing: true });
});

test("a server that answers that it is not ready is not healthy", async () => {
  const server = createServer((_, response) => response.writeHead(503).end("[-]serving failed")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    expect(await checkHealth({ admin: { port } })).toEqual({ isServing: false, text: "[-]serving failed" });
    // It speaks no ZooKeeper either.
    expect(await checkHealth({ port, admin: { enabled: false } })).toMatchObject({ isServing: false });
  } finally {
    server.close();
  }
});

test("a server whose answer breaks off is not healthy", async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-length": 100 }).write("ok");
    setImmediate(() => response.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    expect(await checkHealth({ admin: { port } })).toEqual({
      isServing: false,
      text: expect.stringContaining(`http://127.0.0.1:${port}/readyz: `),
    });
  } finally {
    server.close();
  }
});

test("where no server listens, none is healthy", async () => {
  const server = await startServer({ port: 0, admin: { port: 0 } });
  const { port, adminPort = 0 } = server;
  await server.stop();
  expect(await checkHealth({ admin: { port: adminPort } })).toMatchObject({ isServing: false });
  expect(await checkHealth({ port, admin: { enabled: false } })).toMatchObject({ isServing: false });
});
