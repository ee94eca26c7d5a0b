import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { freePort } from "@zooid/wire/testing/free-ports";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CliRuns } from "./testing/cli-process.ts";

let server: ZooidServer;
const runs = new CliRuns(() => server.connectString);
beforeAll(async () => {
  server = await startServer({ port: 0 });
});
afterAll(() => server.stop());

test("an admin port that sends without an end is given up", async () => {
  const chunk = Buffer.alloc(2 ** 20, " ");
  const endless = createServer((_, response) => {
    const send = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", send);
    send();
  }).listen(0, "127.0.0.1");
  await once(endless, "listening");
  const { port } = endless.address() as AddressInfo;
  const { stderr, status } = await runs.run("leader", "transfer", "2", "--admin", `http://127.0.0.1:${port}`);
  endless.closeAllConnections();
  endless.close();
  expect(stderr).toContain("has more than 16777216 bytes");
  expect(status).toBe(1);
});

test("a URL with credentials is refused, and they are not printed", async () => {
  for (const url of ["http://u:hidden@127.0.0.1:1", "ftp://u:hidden@127.0.0.1", "u:hidden@127.0.0.1:1"]) {
    const { stdout, stderr, status } = await runs.run("leader", "transfer", "--admin", url);
    expect(stdout + stderr).not.toContain("hidden");
    expect([stderr, status]).toEqual([expect.stringContaining("credentials go into --auth or ZOOID_ADMIN_AUTH"), 1]);
  }
});

test("each port that is no admin port is named with what was found there", async () => {
  const web = createServer((_, response) => response.end("<html></html>")).listen(0, "127.0.0.1");
  await once(web, "listening");
  const { port } = web.address() as AddressInfo;
  const other = createTcpServer((socket) => socket.end("hello\n")).listen(0, "127.0.0.1");
  await once(other, "listening");
  const closed = await freePort();
  const cases: readonly (readonly [url: string, reason: string])[] = [
    [`http://127.0.0.1:${closed}`, "connection refused: no process listens on this port"],
    [`http://127.0.0.1:${(other.address() as AddressInfo).port}`, 'the port does not speak HTTP: it sent "hello"'],
    ["http://127.0.0.1:6000", "the port belongs to another protocol, and fetch never asks it: use another one"],
    [`https://127.0.0.1:${port}`, "the port does not speak TLS: its URL begins with http://"],
  ];
  for (const [url, reason] of cases) {
    const { stderr } = await runs.run("leader", "transfer", "--admin", url);
    expect(stderr).toBe(`no answer from the admin port at ${url}: ${reason}\n`);
  }
  const { stderr } = await runs.run("leader", "transfer", "--admin", `http://127.0.0.1:${port}`);
  expect(stderr).toBe(`http://127.0.0.1:${port} is no admin port: it answers with status 200 and "<html></html>"\n`);
  web.closeAllConnections();
  web.close();
  other.close();
});
