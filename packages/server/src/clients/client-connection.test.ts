import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type ConnectionRef, OpCode } from "@zooid/model";
import { BufferPool } from "@zooid/wire";
import { connectRequest, create, frameOf, RawClient, read, request, setData } from "@zooid/wire/testing/raw-client";
import { expect, onTestFinished, test, vi } from "vitest";
import { ReadTurns } from "../driver/read-turns.ts";
import type { ZooidServer } from "../index.ts";
import { RefusalLog } from "../operators/refusal-log.ts";
import { startTestServer } from "../testing/server.ts";
import { ClientConnection, type ConnectionHost } from "./client-connection.ts";
import { Traffic } from "./traffic.ts";

const MEBIBYTE = 1024 * 1024;

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Another client is not affected by the attacks on the first. */
async function expectUndisturbed(bystander: RawClient): Promise<void> {
  expect(await bystander.ask(OpCode.EXISTS, read("/"))).toMatchObject({ code: 0 });
}

test.each([
  ["a length of 0", int(0)],
  ["a length of -1", int(-1)],
  ["the smallest length", int(-(2 ** 31))],
  ["the greatest length", int(2 ** 31 - 1)],
  ["a first frame of 1025 bytes", int(1025)],
  ["a first frame too short for a connect request", Buffer.concat([int(20), Buffer.alloc(20)])],
  [
    "a connect request whose password is cut short",
    Buffer.concat([int(30), Buffer.alloc(24), int(16), Buffer.alloc(2)]),
  ],
  [
    "a connect request with a password length of -2",
    Buffer.concat([int(30), Buffer.alloc(24), int(-2), Buffer.alloc(2)]),
  ],
  ["a TLS handshake", Buffer.from("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "latin1")],
  ["an unknown word", Buffer.from("abcd")],
])("%s first closes the connection without an answer, with one line in the log", async (_, bytes) => {
  await using zk = await startTestServer();
  await using bystander = await RawClient.withSession(zk.port);
  await using client = await RawClient.open(zk.port);
  client.send(bytes);
  expect(await client.rest()).toHaveLength(0);
  expect(zk.lines).toHaveLength(1);
  await expectUndisturbed(bystander);
});

test("HTTP is answered that this is no web server", async () => {
  await using zk = await startTestServer();
  await using client = await RawClient.open(zk.port);
  client.send(Buffer.from("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  expect((await client.rest()).toString()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n.*ZooKeeper client port/s);
  expect(zk.lines).toEqual([expect.stringContaining("an HTTP request came")]);
});

test.each([0, -1, -(2 ** 31), MEBIBYTE, 2 ** 31 - 1, 0x72756f6b])(
  "a length of %i behind a session closes the connection, with one line in the log",
  async (length) => {
    await using zk = await startTestServer();
    await using bystander = await RawClient.withSession(zk.port);
    await using client = await RawClient.withSession(zk.port);
    client.send(int(length), Buffer.alloc(8));
    expect(await client.rest()).toHaveLength(0);
    expect(zk.lines).toHaveLength(1);
    await expectUndisturbed(bystander);
  },
);

test("bytes that name an HTTP method or a four-letter word are a length once there is a session", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  for (const text of ["GET / HTTP/1.1\r\n\r\n", "ruok", "srvr"]) {
    await using client = await RawClient.withSession(zk.port);
    client.send(Buffer.from(text));
    expect(await client.rest()).toHaveLength(0);
  }
});

test.each([1, 4, 7])("a frame of %i bytes, too short for a request's header, closes the connection", async (length) => {
  await using zk = await startTestServer();
  await using client = await RawClient.withSession(zk.port);
  client.send(int(length), Buffer.alloc(length));
  expect(await client.rest()).toHaveLength(0);
  expect(zk.lines).toEqual([expect.stringContaining("a frame that is no request")]);
});

test("a frame of exactly the limit is taken, one byte more closes the connection", async () => {
  await using zk = await startTestServer({ frameBytesMax: 2000 });
  await using client = await RawClient.withSession(zk.port);
  const empty = request(1, OpCode.CREATE, create("/limit"));
  const largest = request(1, OpCode.CREATE, create("/limit", new Uint8Array(2000 - (empty.length - 4))));
  expect(largest.readInt32BE(0)).toBe(2000);
  client.send(largest);
  expect(await client.reply()).toMatchObject({ xid: 1, code: 0 });
  client.send(request(2, OpCode.CREATE, create("/beyond", new Uint8Array(2001 - (empty.length - 4) - 1))));
  expect(await client.rest()).toHaveLength(0);
});

test("a conversation of one byte a packet is understood", async () => {
  await using zk = await startTestServer();
  await using client = await RawClient.open(zk.port);
  for (const byte of Buffer.concat([connectRequest(), request(1, OpCode.CREATE, create("/a", "x"))])) {
    await new Promise((resolve) => client.socket.write(Buffer.of(byte), resolve));
  }
  await client.frame();
  expect(await client.reply()).toMatchObject({ xid: 1, code: 0 });
});

test("a mebibyte in small pieces takes time in proportion to its size", async () => {
  await using zk = await startTestServer();
  await using client = await RawClient.withSession(zk.port);
  const frame = request(1, OpCode.CREATE, create("/a", new Uint8Array(1_000_000)));
  for (let at = 0; at < frame.length; at += 100) client.socket.write(frame.subarray(at, at + 100));
  expect(await client.reply()).toMatchObject({ xid: 1, code: 0 });
});

test.each([
  ["nothing", Buffer.alloc(0)],
  ["half a length", Buffer.of(0, 0)],
  ["a length", int(45)],
  ["half a connect request", connectRequest().subarray(0, 30)],
])("a client that sends %s and waits is closed after the handshake's time", async (_, bytes) => {
  await using zk = await startTestServer({ sessionlessTimeoutMs: 20 });
  await using bystander = await RawClient.withSession(zk.port);
  await using client = await RawClient.open(zk.port);
  client.send(bytes);
  expect(await client.rest()).toHaveLength(0);
  expect(zk.lines).toEqual([expect.stringContaining("no connect request came within 20 ms")]);
  await expectUndisturbed(bystander);
});

test("requests sent with the connect request wait for the session and are answered in order", async () => {
  await using zk = await startTestServer();
  await using client = await RawClient.open(zk.port);
  client.send(
    connectRequest(),
    request(1, OpCode.CREATE, create("/a")),
    request(2, OpCode.EXISTS, read("/a")),
    request(3, OpCode.PING),
  );
  await client.frame();
  expect((await client.reply()).xid).toBe(1);
  expect(await client.reply()).toMatchObject({ xid: 2, code: 0 });
  expect((await client.reply()).xid).toBe(-2);
});

test("a flood of pings is answered one by one", async () => {
  const count = 50_000;
  await using zk = await startTestServer();
  await using client = await RawClient.withSession(zk.port);
  client.send(Buffer.alloc(12 * count, request(-2, OpCode.PING)));
  await client.until("every answer", () => client.receivedBytes === 20 * count);
  await expectUndisturbed(client);
});

/** A client that pipelines reads of a large node and takes no answer. */
async function readsWithoutReading(zk: ZooidServer, count: number): Promise<RawClient> {
  const client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/big", new Uint8Array(500_000)));
  client.socket.pause();
  client.send(...Array.from({ length: count }, (_, i) => request(100 + i, OpCode.GET_DATA, read("/big"))));
  return client;
}

test("reads are answered no further than a client takes the answers, whatever it sends", async () => {
  const before = process.memoryUsage().arrayBuffers;
  await using zk = await startTestServer();
  await using client = await readsWithoutReading(zk, 2000);
  await using bystander = await RawClient.withSession(zk.port);
  for (let i = 0; i < 50; i++) await expectUndisturbed(bystander);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * MEBIBYTE);
  // All answers are there for a client that starts to read.
  client.socket.resume();
  for (let i = 0; i < 20; i++) expect((await client.reply()).xid).toBe(100 + i);
});

test("a client that reads slowly gets every answer in order", async () => {
  await using zk = await startTestServer();
  await using client = await readsWithoutReading(zk, 60);
  client.socket.resume();
  for (let i = 0; i < 60; i++) expect(await client.reply()).toMatchObject({ xid: 100 + i, code: 0 });
  await expectUndisturbed(client);
});

test.each([
  ["that was large before", "/", "x"],
  ["that the write makes large", "/big", "y".repeat(1_000_000)],
])("thirty reads behind a write, of a node %s, are all answered, in order", async (_, written, data) => {
  await using zk = await startTestServer({ outputBytesMax: 8 * MEBIBYTE });
  await using bystander = await RawClient.withSession(zk.port);
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/big", written === "/" ? new Uint8Array(1_000_000) : ""));
  client.send(
    request(100, OpCode.SET_DATA, setData(written, data)),
    ...Array.from({ length: 30 }, (_, i) => request(101 + i, OpCode.GET_DATA, read("/big"))),
  );
  for (let i = 0; i <= 30; i++) expect(await client.reply()).toMatchObject({ xid: 100 + i, code: 0 });
  expect(zk.lines).toEqual([]);
  await expectUndisturbed(bystander);
});

test("answers to requests of one chunk are sent before they are more than a slow reader may have, however fast they are made", async () => {
  await using zk = await startTestServer({ outputBytesMax: 4 * MEBIBYTE });
  await using client = await RawClient.withSession(zk.port);
  await client.ask(OpCode.CREATE, create("/large", new Uint8Array(100_000)));
  // The time of a turn, which bounds its answers too, does not pass.
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  client.send(...Array.from({ length: 150 }, (_, i) => request(100 + i, OpCode.GET_DATA, read("/large"))));
  for (let i = 0; i < 150; i++) expect(await client.reply()).toMatchObject({ xid: 100 + i, code: 0 });
  expect(zk.lines).toEqual([]);
});

test("a client that never reads its events is cut off at the limit, and the others get theirs", async () => {
  await using zk = await startTestServer({ outputBytesMax: 4 * MEBIBYTE });
  await using writer = await RawClient.withSession(zk.port);
  await using reader = await RawClient.withSession(zk.port);
  await using deaf = await RawClient.withSession(zk.port);
  const paths = Array.from({ length: 1250 }, (_, i) => `/${"n".repeat(16_000)}${i}`);
  for (const path of paths) await deaf.ask(OpCode.EXISTS, read(path, true));
  deaf.socket.pause();
  await reader.ask(OpCode.EXISTS, read(paths.at(-1) ?? "", true));
  for (const path of paths) await writer.ask(OpCode.CREATE, create(path));
  expect(await reader.reply()).toMatchObject({ xid: -1 });
  deaf.socket.resume();
  await deaf.rest();
  expect(zk.lines.filter((line) => line.startsWith("closed "))).toEqual([
    expect.stringContaining("bytes wait for a client that does not read them"),
  ]);
});

test("a client that does not read is disconnected a while after its session's end", async () => {
  await using zk = await startTestServer({
    fourLetterWords: "*",
    sessionlessTimeoutMs: 50,
    tickMs: 20,
    sessionTimeoutMsMin: 40,
  });
  await using client = await RawClient.open(zk.port);
  await client.handshake({ timeoutMs: 100 });
  await client.ask(OpCode.CREATE, create("/big", new Uint8Array(1_000_000)));
  client.socket.pause();
  client.send(...Array.from({ length: 30 }, (_, i) => request(100 + i, OpCode.GET_DATA, read("/big"))));
  let answer = "";
  do {
    await using word = await RawClient.open(zk.port);
    word.send(Buffer.from("srvr"));
    answer = (await word.rest()).toString();
  } while (!answer.includes("Connections: 1\n"));
});

test("a client that disconnects in the middle of a frame leaves nothing behind", async () => {
  await using zk = await startTestServer({ fourLetterWords: "*" });
  await using bystander = await RawClient.withSession(zk.port);
  {
    await using client = await RawClient.withSession(zk.port);
    client.send(request(1, OpCode.CREATE, create("/half")).subarray(0, 20));
  }
  expect(await bystander.ask(OpCode.EXISTS, read("/half"))).toMatchObject({ code: -101 });
  await using word = await RawClient.open(zk.port);
  word.send(Buffer.from("srvr"));
  expect((await word.rest()).toString()).toContain("Connections: 2\n");
});

test("clients that all end their side at the same moment get their answers, and then the close", async () => {
  await using zk = await startTestServer({ connectionsPerAddressMax: 0 });
  await using bystander = await RawClient.withSession(zk.port);
  const clients = await Promise.all(Array.from({ length: 500 }, () => RawClient.withSession(zk.port)));
  for (const [i, { socket }] of clients.entries()) {
    if (i < 20) socket.write(request(1, OpCode.EXISTS, read("/")));
    socket.end();
  }
  const answers = await Promise.all(clients.map(async (client) => (await client.rest()).length > 0));
  expect(answers).toEqual(clients.map((_, i) => i < 20));
  await expectUndisturbed(bystander);
});

test("trailing bytes behind a request's last field are ignored", async () => {
  await using zk = await startTestServer();
  await using client = await RawClient.withSession(zk.port);
  client.send(
    frameOf((writer) => {
      writer.int(7);
      writer.int(OpCode.EXISTS);
      read("/")(writer);
      writer.text("and more");
    }),
  );
  expect(await client.reply()).toMatchObject({ xid: 7, code: 0 });
});

test("a connection that has had its share of a turn is read on in later turns", async () => {
  let aheadMs = 0;
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + aheadMs);
  onTestFinished(() => clock.mockRestore());
  const later: (() => void)[] = [];
  let workCount = 0;
  const reads = new ReadTurns<ClientConnection>({
    proxiesShare: 0.5,
    bytesSent: () => 0,
    workCount: () => workCount,
    isHalted: () => false,
    wake: () => reads.begin(),
    later: (callback) => later.push(callback),
  });
  const connected = Promise.withResolvers<void>();
  const xids: number[] = [];
  const host: ConnectionHost = {
    pool: new BufferPool(),
    limits: { frameBytesMax: MEBIBYTE, outputBytesHigh: MEBIBYTE, outputBytesMax: MEBIBYTE, closingMs: 1000 },
    refusals: new RefusalLog(() => {}, now),
    traffic: new Traffic(),
    reads,
    wake: () => reads.begin(),
    wordBytes: () => 4,
    fourLetterWord: () => undefined,
    connect: () => {
      connected.resolve();
      return true;
    },
    // Each takes longer than a share.
    onClientFrame: (_, bytes, start) => {
      xids.push(Buffer.from(bytes.buffer, bytes.byteOffset).readInt32BE(start));
      aheadMs += 1000;
      workCount += 1_000_000;
      return true;
    },
    hasRead: () => {},
    dirty: () => {},
    ended: () => {},
    closed: () => {},
  };
  const [client, socket] = await socketPair();
  const identity = { ref: 1 as ConnectionRef, address: "/127.0.0.1", nowMs: 0, wallMs: 0 };
  const connection = new ClientConnection(socket, { ...identity, counted: { share: "a", isProxied: false } }, host);
  client.write(Buffer.concat([connectRequest(), ...[1, 2, 3].map((xid) => request(xid, OpCode.PING))]));
  await connected.promise;
  connection.resume();
  for (const seen of [[1], [1, 2], [1, 2, 3]]) {
    await expect.poll(() => later.length).toBe(1);
    expect(xids).toEqual(seen);
    later.shift()?.();
  }
});

/** Two ends of one connection. */
async function socketPair(): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [socket]: Socket[] = await once(server, "connection");
  server.close();
  onTestFinished(() => void client.destroy());
  if (socket === undefined) throw new Error("a connection has a socket");
  return [client, socket];
}
