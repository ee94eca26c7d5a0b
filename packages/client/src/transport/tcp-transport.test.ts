import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tcpTransport } from "./tcp-transport.ts";
import type { TransportConnection } from "./transport.ts";

let server: Server;
let sockets: Socket[];
let port: number;

beforeEach(async () => {
  sockets = [];
  server = createServer((socket) => sockets.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as AddressInfo).port;
});

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** The server's end of the next connection. */
async function accepted(): Promise<Socket> {
  return sockets[0] ?? ((await once(server, "connection")) as [Socket])[0];
}

/** A connection and what it tells, in order; `told` waits for a word. */
function connect(toPort = port) {
  const words: string[] = [];
  const waiting = new Map<string, () => void>();
  const tell = (word: string): void => {
    words.push(word);
    waiting.get(word)?.();
  };
  let text = "";
  let error: Error | undefined;
  const connection: TransportConnection = tcpTransport.connect(
    { host: "127.0.0.1", port: toPort },
    {
      opened: () => tell("opened"),
      data: (chunk) => {
        text += String(chunk);
        tell("data");
      },
      drained: () => tell("drained"),
      closed: (reason) => {
        error = reason;
        tell("closed");
      },
    },
  );
  const told = async (word: string): Promise<void> => {
    if (!words.includes(word)) await new Promise<void>((resolve) => waiting.set(word, resolve));
  };
  return { connection, words, told, text: () => text, error: () => error };
}

test("an address needs no name service, a name is resolved to all of its addresses", async () => {
  expect(await tcpTransport.resolve({ host: "::1", port: 7 })).toEqual([{ host: "::1", port: 7 }]);
  expect(await tcpTransport.resolve({ host: "localhost", port: 7 })).toContainEqual({
    ...{ host: "127.0.0.1", port: 7 },
    name: "localhost",
  });
});

test("bytes go both ways, and the other side's end is told without a fault", async () => {
  const { connection, told, words, text, error } = connect();
  await told("opened");
  const socket = await accepted();
  connection.write(Buffer.from("ping"), () => {});
  expect(String((await once(socket, "data"))[0])).toBe("ping");
  socket.end("pong");
  await told("closed");
  expect([words, text(), error()]).toEqual([["opened", "data", "closed"], "pong", undefined]);
});

test("a connection that nobody takes is told as closed, with the reason", async () => {
  await new Promise((resolve) => server.close(resolve));
  const { told, words, error } = connect();
  await told("closed");
  expect([words, error()]).toMatchObject([["closed"], { code: "ECONNREFUSED" }]);
});

test("after destroy nothing is told", async () => {
  const { connection, told, words } = connect();
  await told("opened");
  const socket = await accepted();
  const ended = once(socket, "close");
  connection.destroy();
  connection.destroy();
  socket.resume();
  await ended;
  expect(words).toEqual(["opened"]);
});

test("a full connection says so, keeps what it was given, and tells when there is room", async () => {
  const { connection, told } = connect();
  await told("opened");
  const socket = await accepted();
  socket.pause();
  const chunk = Buffer.alloc(1024 * 1024, 1);
  let writtenCount = 0;
  let sentCount = 1;
  while (connection.write(chunk, () => writtenCount++)) sentCount++;
  socket.resume();
  let receivedBytes = 0;
  socket.on("data", (bytes) => {
    receivedBytes += bytes.length;
  });
  await told("drained");
  expect(writtenCount).toBe(sentCount);
  connection.destroy();
  await once(socket, "close");
  expect(receivedBytes).toBe(sentCount * chunk.length);
});
