import { once } from "node:events";
import { type AddressInfo, connect as connectSocket, createServer, type Server, type Socket } from "node:net";
import { SilentPort } from "@zooid/wire/testing/silent-port";
import { afterEach, beforeEach, expect, test } from "vitest";
import { socketConnection } from "./socket-connection.ts";
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

/** A connection and its events in order; `reported` waits for one. */
function connect(toPort = port) {
  const words: string[] = [];
  const waiting = new Map<string, () => void>();
  const report = (word: string): void => {
    words.push(word);
    waiting.get(word)?.();
  };
  let text = "";
  let error: Error | undefined;
  const connection: TransportConnection = tcpTransport.connect(
    { host: "127.0.0.1", port: toPort },
    {
      opened: () => report("opened"),
      data: (chunk) => {
        text += String(chunk);
        report("data");
      },
      drained: () => report("drained"),
      closed: (reason) => {
        error = reason;
        report("closed");
      },
    },
  );
  const reported = async (word: string): Promise<void> => {
    if (!words.includes(word)) await new Promise<void>((resolve) => waiting.set(word, resolve));
  };
  return { connection, words, reported, text: () => text, error: () => error };
}

test("an address needs no name service, a name is resolved to all of its addresses", async () => {
  expect(await tcpTransport.resolve({ host: "::1", port: 7 })).toEqual([{ host: "::1", port: 7 }]);
  expect(await tcpTransport.resolve({ host: "localhost", port: 7 })).toContainEqual({
    host: "127.0.0.1",
    port: 7,
    name: "localhost",
  });
});

test("bytes go both ways, and the other side's end is reported without an error", async () => {
  const { connection, reported, words, text, error } = connect();
  await reported("opened");
  const socket = await accepted();
  connection.write(Buffer.from("ping"), () => {});
  expect(String((await once(socket, "data"))[0])).toBe("ping");
  socket.end("pong");
  await reported("closed");
  expect([words, text(), error()]).toEqual([["opened", "data", "closed"], "pong", undefined]);
});

test("a refused connection is reported as closed, with the reason", async () => {
  await new Promise((resolve) => server.close(resolve));
  const { reported, words, error } = connect();
  await reported("closed");
  expect([words, error()]).toMatchObject([["closed"], { code: "ECONNREFUSED" }]);
});

test("after destroy there are no events", async () => {
  const { connection, reported, words } = connect();
  await reported("opened");
  const socket = await accepted();
  const ended = once(socket, "close");
  connection.destroy();
  connection.destroy();
  socket.resume();
  await ended;
  expect(words).toEqual(["opened"]);
});

test("a full connection returns false, keeps the bytes, and reports when there is room", async () => {
  const { connection, reported } = connect();
  await reported("opened");
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
  await reported("drained");
  expect(writtenCount).toBe(sentCount);
  connection.destroy();
  await once(socket, "close");
  expect(receivedBytes).toBe(sentCount * chunk.length);
});

test("a connection to itself is a refused one, and frees the port at once", async () => {
  await new Promise((resolve) => server.close(resolve));
  const closed = new Promise<Error | undefined>((resolve) => {
    socketConnection(
      // Without a server the system may choose the dialed port as the connection's own.
      (options) => connectSocket({ host: "127.0.0.1", port, localPort: port, ...options }),
      { opened: "connect", reachMs: undefined },
      { opened: () => expect.fail("it was opened"), data: () => {}, drained: () => {}, closed: resolve },
    );
  });
  expect(await closed).toMatchObject({ code: "ECONNREFUSED", message: expect.stringContaining("to itself") });
});

test("an address that is silent ends an attempt at its limit", async () => {
  await using silent = await SilentPort.open();
  const closed = new Promise<Error | undefined>((resolve) => {
    const events = { opened: () => expect.fail("it was opened"), data: () => {}, drained: () => {}, closed: resolve };
    tcpTransport.connect({ host: "127.0.0.1", port: silent.port }, events, 20);
  });
  expect(await closed).toMatchObject({ code: "ETIMEDOUT", message: expect.stringContaining("within 20 ms") });
});
