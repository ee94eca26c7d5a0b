import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { OpCode } from "@zooid/model";
import { connectRequest, create, RawClient, read, request } from "@zooid/wire/testing/raw-client";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";
import { createSharedReadServer, receive } from "./shared-reads.ts";

/** A server whose accepted sockets are handed out, one for each client that connects. */
async function startServer(options: { readonly allowHalfOpen: boolean }) {
  const accepted: Socket[] = [];
  const server = createSharedReadServer(options, (socket) => accepted.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    server,
    async accept(): Promise<{ readonly client: Socket; readonly socket: Socket }> {
      const client = connect({ host: "127.0.0.1", port, noDelay: true });
      const connection = once(server, "connection");
      await once(client, "connect");
      await connection;
      const socket = accepted.shift();
      if (socket === undefined) throw new Error("it was not accepted");
      return { client, socket };
    },
  };
}

/** The received bytes, in order, each with their buffer. */
async function nextChunk(socket: Socket, client: Socket, bytes: string): Promise<{ text: string; memory: unknown }> {
  const { promise, resolve } = Promise.withResolvers<{ text: string; memory: unknown }>();
  receive(socket, (chunk) => resolve({ text: chunk.toString(), memory: chunk.buffer }));
  client.write(bytes);
  return promise;
}

test("bytes of different sockets arrive in one buffer, also those received before begin", async () => {
  const { server, accept } = await startServer({ allowHalfOpen: true });
  const first = await accept();
  const second = await accept();
  const one = await nextChunk(first.socket, first.client, "one");
  const two = await nextChunk(second.socket, second.client, "two");
  expect([one.text, two.text]).toEqual(["one", "two"]);
  expect(two.memory).toBe(one.memory);
  first.client.destroy();
  second.client.destroy();
  server.close();
  for (const { socket } of [first, second]) socket.destroy();
  await once(server, "close");
});

test("a half-open socket receives the end, answers, and is removed from its server's count", async () => {
  const { server, accept } = await startServer({ allowHalfOpen: true });
  const { client, socket } = await accept();
  let received = "";
  receive(socket, (chunk) => {
    received += chunk.toString();
  });
  socket.on("end", () => socket.end("bye"));
  client.end("hello");
  const [answer] = await once(client, "data");
  expect([received, String(answer)]).toEqual(["hello", "bye"]);
  server.close();
  await once(server, "close");
  expect(socket.destroyed).toBe(true);
});

test("a socket that is paused receives nothing until it is resumed, and then everything in order", async () => {
  const { server, accept } = await startServer({ allowHalfOpen: false });
  const { client, socket } = await accept();
  const received: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  receive(socket, (chunk) => {
    received.push(chunk.toString());
    socket.pause();
    if (received.join("") === "firstsecond") resolve();
    else client.write("second", () => setImmediate(() => socket.resume()));
  });
  client.write("first");
  await promise;
  expect(received).toEqual(["first", "second"]);
  client.destroy();
  server.close();
  socket.destroy();
  await once(server, "close");
});

test("pieces of requests of many clients, in turns, stay each client's own", async () => {
  await using zk = await startTestServer();
  const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.open(zk.port)));
  const conversations = clients.map((_, i) =>
    Buffer.concat([
      connectRequest(),
      request(1, OpCode.CREATE, create(`/node-${i}`, `value ${i} `.repeat(20))),
      request(2, OpCode.GET_DATA, read(`/node-${i}`)),
    ]),
  );
  const longest = Math.max(...conversations.map(({ length }) => length));
  for (let at = 0; at < longest; at += 3) {
    await Promise.all(
      clients.map((client, i) => {
        const piece = conversations[i]?.subarray(at, at + 3);
        return piece === undefined || piece.length === 0
          ? undefined
          : new Promise((resolve) => client.socket.write(piece, resolve));
      }),
    );
  }
  for (const [i, client] of clients.entries()) {
    await client.frame();
    expect(await client.reply()).toMatchObject({ xid: 1, code: 0 });
    const { code, body } = await client.reply();
    expect(code).toBe(0);
    expect(body.text()).toBe(`value ${i} `.repeat(20));
    await client[Symbol.asyncDispose]();
  }
});

test("pieces of four-letter words that come in turns stay each client's own", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  await using first = await RawClient.open(zk.port);
  await using second = await RawClient.open(zk.port);
  const say = (client: RawClient, piece: string) => new Promise((resolve) => client.socket.write(piece, resolve));
  await say(first, "ru");
  // An answer shows that the server has read the earlier bytes.
  await using bystander = await RawClient.withSession(zk.port);
  await say(second, "en");
  await bystander.ask(OpCode.EXISTS, read("/"));
  await say(first, "ok");
  await say(second, "vi");
  expect((await first.rest()).toString()).toBe("imok");
  expect((await second.rest()).toString()).toMatch(/^Environment:/);
});

test("requests that came when the turn had no room for them are read later, each client's own", async () => {
  await using zk = await startTestServer();
  const greedy = await Promise.all(Array.from({ length: 24 }, () => RawClient.withSession(zk.port)));
  const modest = await Promise.all(Array.from({ length: 10 }, () => RawClient.withSession(zk.port)));
  await greedy[0]?.ask(OpCode.CREATE, create("/large", new Uint8Array(1_000_000)));
  // All of it waits at the server's sockets before the server reads anything: more than one turn
  // may answer, and then the others.
  for (const client of greedy) client.send(request(1, OpCode.GET_DATA, read("/large")));
  for (const [i, client] of modest.entries()) client.send(request(1, OpCode.CREATE, create(`/own-${i}`)));
  for (const [i, client] of modest.entries()) {
    const { code, body } = await client.reply();
    expect([code, body.text()]).toEqual([0, `/own-${i}`]);
  }
  for (const client of greedy) expect(await client.reply()).toMatchObject({ code: 0 });
  await Promise.all([...greedy, ...modest].map((client) => client[Symbol.asyncDispose]()));
});
