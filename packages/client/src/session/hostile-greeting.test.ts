/**
 * Invalid connect responses, and missing ones: the client keeps trying, or reports what became of
 * its session.
 */
import { getEventListeners } from "node:events";
import { OpCode, type SessionId } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { connect, createClient } from "../connect.ts";
import { isZkError } from "../errors.ts";
import type { ClientOptions } from "../options.ts";
import { ProcessNoise } from "../testing/process-noise.ts";
import {
  answer,
  dataAnswer,
  event,
  frame,
  greetingFrame,
  REFUSED,
  type ScriptedLine,
  ScriptedServer,
  SESSION_ID,
} from "../testing/scripted-server.ts";

let noise: ProcessNoise;

beforeEach(() => {
  noise = new ProcessNoise();
});

// Hooks run last one first, so this one checks the others too.
afterEach(async () => {
  expect(await noise.end()).toEqual([]);
});

let server: ScriptedServer;
let zk: Client;
let states: string[];

beforeEach(async () => {
  server = await ScriptedServer.start();
});

afterEach(async () => {
  await zk.close();
  await expect.poll(() => server.openCount).toBe(0);
  await server[Symbol.asyncDispose]();
});

/** A client without back-off. */
function start(options: ClientOptions = {}): void {
  zk = createClient(server.hosts, { random: () => 0, sessionTimeoutMs: 30_000, ...options });
  states = [];
  // Failed attempts emit the state again.
  zk.state$.subscribe(({ kind }) => {
    if (states.at(-1) !== kind) states.push(kind);
  });
}

/** Serves the next connection, so that the client settles. */
async function settle(greeting = {}): Promise<ScriptedLine> {
  const line = await server.session(greeting);
  line.serve((request) => (request.op === OpCode.GET_DATA ? dataAnswer(request, "") : answer(request)));
  await zk.connected();
  await zk.get("/a");
  return line;
}

const TAIL = greetingFrame().subarray(4);

test.each([
  ["that is short", frame((writer) => writer.raw(TAIL, 0, 10))],
  ["whose password is longer than the frame", frame((writer) => writer.raw(TAIL, 0, 20))],
  ["of no bytes", Buffer.alloc(4)],
  ["of a negative length", Buffer.alloc(4, 0xff)],
  ["that is huge", Buffer.from([0x7f, 0xff, 0xff, 0xff])],
  ["that is an event", event(3, "/a")],
])("a greeting %s is followed by another attempt", async (_, bytes) => {
  start();
  const line = await server.accept();
  await line.hello();
  line.send(bytes);
  await line.closed;
  await settle();
  expect(states).toEqual(["connecting", "connected"]);
});

test.each([
  ["without the read-only byte", { readOnly: undefined }],
  ["with a longer password", { password: new Uint8Array(40).fill(1) }],
  ["with a shorter password", { password: new Uint8Array(3).fill(1) }],
  ["without a password", { password: new Uint8Array(0) }],
])("a greeting %s is accepted, and its password is sent when the session is resumed", async (_, greeting) => {
  start();
  const line = await settle(greeting);
  // A copy: the user may modify it.
  zk.sessionPassword.fill(0);
  line.reset();
  const next = await settle();
  const { sessionId, password } = await next.hello();
  expect(sessionId).toBe(SESSION_ID);
  const shown = new Uint8Array(password.bytes.subarray(password.start, password.end));
  expect(shown).toEqual("password" in greeting ? greeting.password : new Uint8Array(16).fill(7));
});

test("a greeting may come byte by byte, directly followed by the first answer", async () => {
  start();
  const line = await server.accept();
  await line.hello();
  await line.dribble(greetingFrame());
  line.serve((request) => answer(request));
  await zk.connected();
});

test("a refusal without a session loses none", async () => {
  start();
  for (let i = 0; i < 3; i++) {
    const line = await server.session(REFUSED);
    await line.closed;
  }
  await settle();
  expect(states).toEqual(["connecting", "connected"]);
});

test("another session than the requested one: the old one is lost, the new one is used", async () => {
  start();
  (await settle()).reset();
  await settle({ sessionId: 0x99n as SessionId });
  expect(states).toEqual(["connecting", "connected", "suspended", "lost", "connected"]);
  expect(zk.sessionId).toBe(0x99n);
});

test("with onExpiry close another session than the requested one ends the client", async () => {
  start({ onExpiry: "close" });
  (await settle()).reset();
  await server.session({ sessionId: 0x99n as SessionId });
  await expect.poll(() => states.at(-1)).toBe("closed");
  expect(await zk.get("/a").catch((error) => error.code)).toBe("SESSION_EXPIRED");
});

test("the wait for a greeting is limited", async () => {
  start({ connectTimeoutMs: 30 });
  const line = await server.accept();
  await line.hello();
  await line.closed;
  await settle();
});

test("servers that accept and close are tried again", async () => {
  start();
  for (let i = 0; i < 3; i++) (await server.accept()).socket.end();
  for (let i = 0; i < 3; i++) (await server.accept()).reset();
  await settle();
});

test("servers that greet and close are tried again, and calls wait for a stable connection", async () => {
  start();
  const got = zk.get("/a");
  for (let i = 0; i < 3; i++) (await server.session()).socket.end();
  await settle();
  await got;
});

test("calls may be cancelled before there is a connection, and a flapping connection leaves few entries", async () => {
  start({ waitingTimeoutMs: 60 });
  const calls = Array.from({ length: 100 }, () => zk.get("/a").catch((error) => error));
  const line = await server.accept();
  await line.hello();
  for (const error of await Promise.all(calls)) {
    expect(error).toMatchObject({ code: "CONNECTION_LOSS", outcome: "not-sent" });
  }
});

test("a client that starts before its server finds it", async () => {
  const { port } = server;
  await server[Symbol.asyncDispose]();
  start();
  const got = zk.get("/a");
  await new Promise((resolve) => setImmediate(resolve));
  server = await ScriptedServer.start("127.0.0.1", port);
  await settle();
  await got;
});

test("an IPv6 address is dialled and shown with its brackets", async () => {
  const six = await ScriptedServer.start("::1");
  const [client, line] = await Promise.all([connect(`[::1]:${six.port}`), six.session()]);
  expect(client.server).toBe(`[::1]:${six.port}`);
  line.serve((request) => answer(request));
  await client.close();
  await six[Symbol.asyncDispose]();
  start();
});

test("a provider may change its hosts, give none or invalid ones, or throw, and the next round uses the current ones", async () => {
  const port = server.port;
  const rounds: (() => { host: string; port: number }[])[] = [
    () => [{ host: "127.0.0.1", port: 1 }],
    () => [],
    () => [{ host: "127.0.0.1", port: 70_000 }],
    () => {
      throw new Error("the directory is down");
    },
    () => [{ host: "127.0.0.1", port }],
  ];
  let round = -1;
  const ignore = (): void => {};
  zk = createClient("/", {
    random: () => 0,
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    // The first call only reads the number of hosts.
    hosts: { hosts: () => (rounds[Math.min(Math.max(round++, 0), rounds.length - 1)] ?? (() => []))() },
  });
  await settle();
});

test.each([
  [
    "resolve",
    () => ({
      resolve: () => {
        throw new Error("no names today");
      },
    }),
  ],
  [
    "connect",
    () => ({
      connect: () => {
        throw new Error("no sockets today");
      },
    }),
  ],
] as const)("a transport whose %s throws counts as an unreachable host", async (_, broken) => {
  const { tcpTransport } = await import("../transport/tcp-transport.ts");
  let isBroken = true;
  const faulty = { ...tcpTransport, ...broken() };
  start({
    transport: {
      resolve: (host) => (isBroken ? faulty : tcpTransport).resolve(host),
      connect: (address, events) => {
        const transport = isBroken ? faulty : tcpTransport;
        isBroken = false;
        return transport.connect(address, events);
      },
    },
  });
  setImmediate(() => {
    isBroken = false;
  });
  await settle();
});

test("two clients of one session take it over from each other, and every call is settled", async () => {
  start();
  await settle();
  const resumed = { id: zk.sessionId, password: zk.sessionPassword };
  const [other, line] = await Promise.all([connect(server.hosts, { session: resumed }), server.session()]);
  expect((await line.hello()).sessionId).toBe(SESSION_ID);
  line.serve((request) => answer(request));
  await other.close();
});

test("a cancelled connect leaves no listener and no connection", async () => {
  start();
  await settle();
  const controller = new AbortController();
  const connecting = connect(server.hosts, { signal: controller.signal, auth: [{ scheme: "digest", auth: "a:b" }] });
  const line = await server.accept();
  controller.abort(new Error("enough"));
  await expect(connecting).rejects.toThrow("enough");
  await line.closed;
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
});

test("an error in the body of await using closes the session and is thrown", async () => {
  start();
  const serving = server.accept().then(async (line) => {
    // The client of `start`, which connects first.
    await line.greet();
    line.serve((request) => answer(request));
    const mine = await server.session();
    const closing = mine.request();
    const request = await closing;
    expect(request.op).toBe(OpCode.CLOSE_SESSION);
    mine.send(answer(request));
    await mine.closed;
  });
  const body = async (): Promise<void> => {
    await using client = await connect(server.hosts);
    expect(isZkError(client)).toBe(false);
    throw new Error("the body's own");
  };
  await zk.connected();
  await expect(body()).rejects.toThrow("the body's own");
  await serving;
});
