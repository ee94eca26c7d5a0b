import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { startServer } from "@zooid/embedded-server";
import { expect, onTestFinished, test } from "vitest";
import { Authority } from "../testing/certificates.ts";
import { ScriptedServer } from "../testing/scripted-server.ts";
import { adminCommand } from "./admin-command.ts";

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("a server is asked by its name, and answers", async () => {
  await using server = await startServer({ port: 0, fourLetterWords: "*" });
  expect(await adminCommand(`localhost:${server.port}`, "ruok")).toBe("imok");
  expect(await adminCommand(server.connectString, "mntr")).toMatch(/^zk_version\t/);
});

test("a word that the server does not allow is answered with a message", async () => {
  await using server = await startServer({ port: 0, fourLetterWords: "srvr" });
  expect(await adminCommand(server.connectString, "wchp")).toContain("whitelist");
});

test("without a listener, or with a closed connection, there is no answer", async () => {
  const dead = await listen(createServer((socket) => socket.end()));
  await expect(adminCommand(dead, "ruok")).rejects.toMatchObject({ code: "CONNECTION_LOSS" });
  const gone = await ScriptedServer.start();
  await gone[Symbol.asyncDispose]();
  await expect(adminCommand(gone.hosts, "ruok")).rejects.toMatchObject({ code: "CONNECTION_LOSS", op: "ruok" });
  await expect(adminCommand(gone.hosts, "ruok")).rejects.toThrow("connection refused: no process listens on this port");
});

test("each port of another service is one error with server and reason", async () => {
  const web = await listen(createHttpServer((_, response) => response.end("<html></html>")));
  const secure = await listen(createTlsServer(new Authority("ca").holder("localhost")));
  const binary = await listen(createServer((socket) => socket.end(Buffer.from([0, 0, 0, 5, 255]))));
  const plain = await startServer({ port: 0 });
  const refused = await ScriptedServer.start();
  await refused[Symbol.asyncDispose]();
  const cases: readonly (readonly [server: string, reason: string, tls?: object])[] = [
    [refused.hosts, "connection refused: no process listens on this port"],
    [web, 'the port speaks HTTP, and answered "HTTP/1.1 400 Bad Request"'],
    [binary, "the port of another service: it answered 5 bytes that are no text"],
    [
      plain.connectString,
      "the port does not speak TLS, and the command was sent with it",
      { rejectUnauthorized: false },
    ],
  ];
  for (const [server, reason, tls] of cases) {
    const asked = adminCommand(server, "srvr", tls === undefined ? {} : { tls });
    await expect(asked).rejects.toMatchObject({
      code: "CONNECTION_LOSS",
      op: "srvr",
      message: expect.stringContaining(`srvr at ${server}: no answer of a ZooKeeper server: ${reason}`),
    });
  }
  await plain.stop();
  // Without a whole record it waits for more.
  await expect(adminCommand(secure, "srvr", { timeoutMs: 50 })).rejects.toThrow(
    `srvr at ${secure}: no answer in time: the server is busy, or this is the port of another service, or one with TLS`,
  );
});

test("an answer is given up behind 64 MiB", async () => {
  const chunk = Buffer.alloc(1024 * 1024, "x");
  const long = createServer((socket) => {
    socket.on("error", () => {});
    socket.write("zk_version\t");
    for (let i = 0; i < 66; i++) socket.write(chunk);
    socket.end();
  });
  const asking = adminCommand(await listen(long), "mntr", { timeoutMs: 60_000 });
  await expect(asking).rejects.toThrow("an answer of more than");
});

test("a silent server is waited for as long as the caller allows", async () => {
  const mute = await listen(createServer());
  await expect(adminCommand(mute, "ruok", { timeoutMs: 20 })).rejects.toMatchObject({ code: "OPERATION_TIMEOUT" });
  const controller = new AbortController();
  const asking = adminCommand(mute, "ruok", { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(asking).rejects.toThrow("enough");
});

test.each([
  ["127.0.0.1:1", "stats"],
  ["127.0.0.1:1", "RUOK"],
  ["a:1,b:1", "ruok"],
  ["a:1/app", "ruok"],
  ["", "ruok"],
])("%s %s cannot be asked", async (server, word) => {
  await expect(adminCommand(server, word)).rejects.toThrow(RangeError);
});
