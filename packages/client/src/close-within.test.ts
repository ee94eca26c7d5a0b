import { ErrorCode, OpCode } from "@zooid/model";
import { expect, onTestFinished, test } from "vitest";
import type { Client } from "./client.ts";
import { connect, createClient } from "./connect.ts";
import type { ClientOptions } from "./options.ts";
import {
  answer,
  honestAnswer,
  REFUSED,
  type ScriptedLine,
  ScriptedServer,
  SESSION_ID,
} from "./testing/scripted-server.ts";

interface Stage {
  readonly server: ScriptedServer;
  readonly zk: Client;
  /** The connection of the client. */
  readonly line: ScriptedLine;
}

async function stage(options: ClientOptions = {}): Promise<Stage> {
  const server = await ScriptedServer.start();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const zk = createClient(server.hosts, options);
  onTestFinished(() => zk.disconnect());
  const line = await server.session();
  await zk.connected();
  return { server, zk, line };
}

const CLOSE = { op: OpCode.CLOSE_SESSION };
const { NOT_READ_ONLY, SESSION_EXPIRED } = ErrorCode;

test("a connection that ends before a close arrives is replaced, and the session closed on the next one", async () => {
  const { server, zk, line } = await stage();
  const closed = zk.close({ timeoutMs: 60_000 });
  line.reset();
  const next = await server.accept();
  expect(await next.greet()).toMatchObject({ sessionId: SESSION_ID });
  const request = await next.request();
  expect(request).toMatchObject(CLOSE);
  next.send(answer(request));
  await closed;
  expect(zk.state.kind).toBe("closed");
});

test.each([["new-session"], ["close"]] as const)(
  "a session that the server closed without an answer is unknown at the next attempt, which is its end (onExpiry %s)",
  async (onExpiry) => {
    const { server, zk, line } = await stage({ onExpiry });
    const closed = zk.close({ signal: new AbortController().signal });
    expect(await line.request()).toMatchObject(CLOSE);
    line.reset();
    await server.session(REFUSED);
    await closed;
    expect([zk.state.kind, server.acceptedCount]).toEqual(["closed", 2]);
  },
);

test("a server that hangs up at each close is asked until it answers", async () => {
  const { server, zk, line } = await stage();
  const closed = zk.close({ timeoutMs: 60_000 });
  let current = line;
  for (let drops = 0; drops < 2; drops++) {
    expect(await current.request()).toMatchObject(CLOSE);
    current.reset();
    current = await server.session();
  }
  const request = await current.request();
  current.send(answer(request));
  await closed;
});

test("a server that refuses to end a session, as one without a quorum, is left for another one", async () => {
  const { server, zk, line } = await stage();
  const closed = zk.close({ timeoutMs: 60_000 });
  line.send(answer(await line.request(), { code: NOT_READ_ONLY }));
  await line.closed;
  (await server.session()).serve(honestAnswer);
  await closed;
  expect(server.acceptedCount).toBe(2);
});

test("a close without limits ends by any answer, and one with a limit by one that the session has expired", async () => {
  const first = await stage();
  const closed = first.zk.close();
  first.line.send(answer(await first.line.request(), { code: NOT_READ_ONLY }));
  await closed;
  const second = await stage();
  const limited = second.zk.close({ timeoutMs: 60_000 });
  second.line.send(answer(await second.line.request(), { code: SESSION_EXPIRED }));
  await limited;
  expect([first.server.acceptedCount, second.server.acceptedCount]).toEqual([1, 1]);
});

test.each([
  ["after the limit", { timeoutMs: 30 }, { code: "OPERATION_TIMEOUT", outcome: "unknown" }],
  ["at the signal", { timeoutMs: 60_000 }, { name: "AbortError" }],
])("a close whose connection ended, and that no server answers, is given up %s", async (_, limit, expected) => {
  const { server, zk, line } = await stage();
  const controller = new AbortController();
  const failure = zk.close({ ...limit, signal: controller.signal }).catch((error: unknown) => error);
  line.reset();
  if (limit.timeoutMs > 30) {
    await (await server.accept()).hello();
    controller.abort();
  }
  expect(await failure).toMatchObject(expected);
  expect(zk.state.kind).toBe("closed");
});

test("calls made before a close are made again on the connection that replaces the lost one", async () => {
  const { server, zk, line } = await stage();
  const read = zk.exists("/a");
  const write = zk.set("/a", "x").catch(({ code }) => code);
  const closed = zk.close({ timeoutMs: 60_000 });
  await line.requests(3);
  line.reset();
  const next = await server.session();
  next.serve(honestAnswer);
  await closed;
  expect(await write).toBe("CONNECTION_LOSS");
  expect(await read).toMatchObject({ version: 0 });
});

test("closes at the same time end together, with the confirmation", async () => {
  const { server, zk, line } = await stage();
  const closed = [zk.close({ timeoutMs: 60_000 }), zk.close({ timeoutMs: 50_000 })];
  line.reset();
  (await server.session()).serve(honestAnswer);
  await Promise.all(closed);
  await Promise.all([zk.close(), zk.close({ timeoutMs: 0 })]);
});

test("a close without limits does not wait for a connection, and others report that no server confirmed", async () => {
  const { server, zk, line } = await stage();
  const limited = zk.close({ timeoutMs: 60_000 });
  line.reset();
  await (await server.accept()).hello();
  await zk.close();
  await expect(limited).rejects.toMatchObject({ code: "CONNECTION_LOSS", op: "close", outcome: "unknown" });
});

test("a close with a limit behind one without keeps the limit of that one", async () => {
  const { zk, line } = await stage();
  const closed = zk.close();
  const limited = zk.close({ timeoutMs: 60_000 });
  line.reset();
  await closed;
  await expect(limited).rejects.toMatchObject({ code: "CONNECTION_LOSS" });
});

test("a session to resume is attached and closed; without any session there is nothing to wait for", async () => {
  await using server = await ScriptedServer.start();
  const zk = createClient(server.hosts, { session: { id: SESSION_ID, password: new Uint8Array(16) } });
  const closed = zk.close({ timeoutMs: 60_000 });
  (await server.session()).serve(honestAnswer);
  await closed;
  await createClient("127.0.0.1:1").close({ timeoutMs: 0 });
});

test("credentials refused while a session is attached again are reported", async () => {
  await using server = await ScriptedServer.start();
  const connecting = connect(server.hosts, { auth: [{ scheme: "digest", auth: "a:b" }] });
  const line = await server.session();
  line.serve(honestAnswer);
  const zk = await connecting;
  line.serve(() => undefined);
  const closed = zk.close({ timeoutMs: 60_000 });
  line.reset();
  const next = await server.session();
  next.serve((request) => (request.op === OpCode.AUTH ? answer({ xid: -4 }, { code: -115 }) : undefined));
  await expect(closed).rejects.toMatchObject({ code: "AUTH_FAILED" });
});
