import { once } from "node:events";
import { type AddressInfo, createServer, connect as dial, type Server } from "node:net";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { ScriptedServer } from "../testing/scripted-server.ts";

/** A server without a quorum: it accepts read-only sessions, and answers `isro` accordingly. */
let readOnly: ScriptedServer;
let front: Server;
let askedCount: number;
let server: ZooidServer;
let zk: Client;

beforeEach(async () => {
  askedCount = 0;
  server = await startServer({ port: 0, fourLetterWords: "isro" });
  readOnly = await ScriptedServer.start();
  front = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (first) => {
      if (first.toString("latin1") === "isro") {
        askedCount++;
        socket.end("ro");
        return;
      }
      const behind = dial(readOnly.port, "127.0.0.1");
      behind.on("error", () => {}).on("close", () => socket.destroy());
      behind.write(first);
      socket.pipe(behind).pipe(socket);
    });
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
});

afterEach(async () => {
  await zk.close();
  front.close();
  await readOnly[Symbol.asyncDispose]();
  await server.stop();
});

const frontHost = (): string => `127.0.0.1:${(front.address() as AddressInfo).port}`;

async function openReadOnly(hosts: string): Promise<void> {
  const connecting = connect(hosts, { readOnly: "allow", hostOrder: "given" });
  await readOnly.session({ readOnly: true });
  zk = await connecting;
  expect(zk.state.kind).toBe("read-only");
}

test("it stays while no server is writable, and keeps asking", async () => {
  await openReadOnly(frontHost());
  while (askedCount < 2) await once(front, "connection").then(() => new Promise((next) => setImmediate(next)));
  expect(zk.state.kind).toBe("read-only");
});
