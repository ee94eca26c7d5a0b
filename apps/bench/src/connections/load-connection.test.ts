import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import type { SessionId } from "@zooid/model";
import { JuteWriter, writeConnectResponse } from "@zooid/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FrameOffset, LoadConnection, readInt } from "./load-connection.ts";

// A server that sends the bytes that a test gives it, in pieces of given sizes.

let server: Server;
let client: LoadConnection;
let accepted: Promise<Socket>;
let replies: { xid: number; code: number; first: number }[];
let losses: number;
let chunks: number;

beforeEach(async () => {
  replies = [];
  losses = 0;
  chunks = 0;
  server = createServer({ noDelay: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  accepted = once(server, "connection").then(([socket]) => socket as Socket);
  const { port } = server.address() as AddressInfo;
  const target = { host: { name: "127.0.0.1", port }, localAddress: undefined, sessionTimeoutMs: 5000 };
  client = new LoadConnection(0, target, {
    receiving: () => {},
    received: () => {
      chunks++;
    },
    reply: (_, bytes, at) => {
      const hasBody = readInt(bytes, at) >= 20;
      replies.push({
        xid: readInt(bytes, at + FrameOffset.xid),
        code: readInt(bytes, at + FrameOffset.code),
        first: hasBody ? readInt(bytes, at + FrameOffset.body) : -1,
      });
    },
    lost: () => {
      losses++;
    },
  });
});

afterEach(async () => {
  client.destroy();
  (await accepted).destroy();
  await new Promise((resolve) => server.close(resolve));
});

function handshake(timeoutMs: number): Buffer {
  const writer = new JuteWriter();
  const password = { bytes: new Uint8Array(16).fill(7), start: 0, end: 16 };
  writeConnectResponse(writer, { timeoutMs, sessionId: 5n as SessionId, password, readOnly: false });
  return Buffer.from(writer.bytes.subarray(0, writer.end));
}

function answer(xid: number, code: number, body: Uint8Array): Buffer {
  const frame = Buffer.alloc(20 + body.length);
  frame.writeInt32BE(frame.length - 4, 0);
  frame.writeInt32BE(xid, FrameOffset.xid);
  frame.writeInt32BE(code, FrameOffset.code);
  frame.set(body, FrameOffset.body);
  return frame;
}

/** Writes a piece at a time, and lets the client read each. */
async function say(socket: Socket, bytes: Buffer, pieceBytes: number): Promise<void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    socket.write(bytes.subarray(at, at + pieceBytes));
    await turn();
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

test.each([1, 3, 7, 19, 21, 30, 64, 1000, 1_000_000])(
  "frames that come in pieces of %i bytes are the same frames",
  async (pieceBytes) => {
    const opening = client.open();
    const socket = await accepted;
    await say(socket, handshake(5000), pieceBytes);
    const session = await opening;
    expect(session).toMatchObject({ id: 5n, timeoutMs: 5000 });
    const bodies = [0, 4, 8, 9, 10, 100, 0, 3000].map((length) => Buffer.alloc(length, length));
    const frames = Buffer.concat(bodies.map((body, i) => answer(i + 1, -100 - i, body)));
    await say(socket, frames, Math.max(pieceBytes, Math.ceil(frames.length / 500)));
    await until(() => replies.length === bodies.length);
    expect(replies).toEqual(
      bodies.map((body, i) => ({ xid: i + 1, code: -100 - i, first: body.length >= 4 ? body.readInt32BE(0) : -1 })),
    );
  },
);

test("a frame counts when it is there as a whole, not when its header is", async () => {
  const opening = client.open();
  const socket = await accepted;
  socket.write(handshake(5000));
  await opening;
  const frame = answer(1, 0, Buffer.alloc(200));
  socket.write(frame.subarray(0, frame.length - 1));
  await until(() => chunks > 0);
  expect(replies).toEqual([]);
  socket.write(Buffer.concat([frame.subarray(frame.length - 1), answer(2, 0, Buffer.alloc(0))]));
  await until(() => replies.length === 2);
  expect(replies.map(({ xid }) => xid)).toEqual([1, 2]);
});

test("a session that is gone is an error, not a session", async () => {
  const opening = client.open();
  (await accepted).write(handshake(0));
  await expect(opening).rejects.toThrow("SESSION_EXPIRED");
});

test("a server that hangs up before there is a session is an error", async () => {
  const opening = client.open();
  (await accepted).end();
  await expect(opening).rejects.toThrow();
  expect(losses).toBe(0);
});

test("a connection that ends unasked is reported once; one that is destroyed is not", async () => {
  const opening = client.open();
  const socket = await accepted;
  socket.write(handshake(5000));
  await opening;
  socket.destroy();
  await until(() => losses === 1);
  client.destroy();
  expect([losses, client.isOpen]).toEqual([1, false]);
});

test("xids are answered in order", async () => {
  const opening = client.open();
  (await accepted).write(handshake(5000));
  await opening;
  const first = client.takeXid();
  expect(client.isNextReply(first + 1)).toBe(false);
  expect(client.isNextReply(first)).toBe(true);
  expect(client.isNextReply(client.takeXid())).toBe(true);
});

test("xids continue in a session that is resumed, and begin again in a new one", async () => {
  server.on("connection", (socket: Socket) => socket.once("data", () => socket.write(handshake(5000))));
  await client.open();
  expect([client.takeXid(), client.takeXid()]).toEqual([1, 2]);
  client.destroy();
  await client.open({ resume: true });
  const next = client.takeXid();
  expect(next).toBe(3);
  expect(client.isNextReply(next)).toBe(true);
  client.destroy();
  await client.open();
  expect(client.takeXid()).toBe(1);
});

test("a server that gives no session in time is given up", async () => {
  client.target = { ...client.target, connectTimeoutMs: 1 };
  await expect(client.open()).rejects.toThrow("no session within 1 ms");
});
