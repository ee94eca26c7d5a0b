import { connect } from "node:net";
import { OpCode } from "@zooid/model";
import { RawClient, request } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";

const HOST = "127.0.0.1";
const ADMIN = { admin: { port: 0 } };
const GET = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
const PING_XID = -2;
const PING = request(PING_XID, OpCode.PING);

/** A connection that sends a text, and what it has received. */
function sends(port: number | undefined, text: string) {
  const socket = connect({ port: port ?? 0, host: HOST, noDelay: true });
  const heard = { text: "" };
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    heard.text += chunk;
  });
  socket.on("error", () => {
    // The server has closed it while bytes were on their way.
  });
  socket.write(text);
  return { socket, heard, closed: new Promise<void>((resolve) => socket.once("close", () => resolve())) };
}

const answersIn = (text: string): number => text.split("HTTP/1.1 200 ").length - 1;

test("requests that were sent at once are answered one after the other", async () => {
  await using zk = await startTestServer(ADMIN);
  const { socket, heard, closed } = sends(
    zk.adminPort,
    `${GET.repeat(9)}${GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")}`,
  );
  await closed;
  expect(answersIn(heard.text)).toBe(10);
  socket.destroy();
});

test("a connection with very many is closed, and clients of the server are answered meanwhile", async () => {
  await using zk = await startTestServer(ADMIN);
  await using client = await RawClient.withSession(zk.port);
  const flood = sends(zk.adminPort, GET.repeat(20_000));
  let isClosed = false;
  void flood.closed.then(() => {
    isClosed = true;
  });
  // Were they answered at once, the answer to a ping would come after all of theirs.
  do {
    client.send(PING);
    await client.reply();
  } while (!isClosed);
  expect(answersIn(flood.heard.text)).toBeLessThan(20);
});
