/** A connect that cannot succeed says why: in its error, its states, its log and its channel. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { SilentPort } from "@zooid/wire/testing/silent-port";
import { filter, firstValueFrom } from "rxjs";
import { afterEach, expect, onTestFinished, test } from "vitest";
import type { Client } from "../client.ts";
import { connect, createClient } from "../connect.ts";
import { ZkError } from "../errors.ts";
import type { ClientOptions } from "../options.ts";
import { ScriptedServer } from "../testing/scripted-server.ts";
import type { AttemptError } from "./attempt-failures.ts";
import { printDebug } from "./debug-output.ts";
import type { ConnectionMessage } from "./diagnostics.ts";
import type { Logger } from "./logger.ts";

/** No process listens there; the system gives the port of a stopped server to others. */
const hosts = "127.0.0.1:1";
let zk: Client | undefined;

afterEach(async () => {
  await zk?.close();
  zk = undefined;
});

function start(options: ClientOptions = {}): Client {
  zk = createClient(hosts, { random: () => 0, connectWarningMs: Number.POSITIVE_INFINITY, ...options });
  return zk;
}

async function errorOf(call: Promise<unknown>): Promise<ZkError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ZkError)) throw new Error("the call was to fail with a ZkError");
  return error;
}

/** The records of a logger, and a promise for the first warning. */
function recorder() {
  const records: { readonly level: string; readonly message: string; readonly fields: object }[] = [];
  const warned = Promise.withResolvers<void>();
  const at =
    (level: string) =>
    (message: string, fields: object): void => {
      records.push({ level, message, fields });
      if (level === "warn") warned.resolve();
    };
  const logger: Logger = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  return { logger, records, warned: warned.promise };
}

test("connect gives up after startTimeoutMs, with the last reason of each server", async () => {
  const error = await errorOf(connect(`${hosts},no-such-host.invalid:2182`, { startTimeoutMs: 300 }));
  const reasons = (error.cause as AggregateError).errors as AttemptError[];
  expect([error.code, error.outcome]).toEqual(["OPERATION_TIMEOUT", "not-sent"]);
  expect(reasons.map(({ server }) => server).sort()).toEqual([hosts, "no-such-host.invalid:2182"].sort());
  expect(reasons.find(({ server }) => server === hosts)?.code).toBe("ECONNREFUSED");
  for (const { message } of reasons) expect(error.message).toContain(message);
});

test("each failed attempt emits the state again, with its number and reason", async () => {
  const client = start();
  const state = await firstValueFrom(
    client.state$.pipe(filter((seen) => seen.kind === "connecting" && seen.attempt === 2)),
  );
  expect(state).toEqual({ kind: "connecting", attempt: 2, reason: expect.stringContaining(hosts) });
  expect(client.state).toMatchObject({ kind: "connecting" });
});

test("the count of attempts starts again with a connection", async () => {
  await using server = await ScriptedServer.start();
  zk = createClient(server.hosts, { random: () => 0 });
  (await server.accept()).reset();
  const line = await server.session();
  await zk.connected();
  expect(zk.state).not.toHaveProperty("attempt");
  line.reset();
  (await server.accept()).reset();
  await firstValueFrom(zk.state$.pipe(filter((state) => state.kind === "suspended" && state.attempt === 1)));
});

test("a state listener may close the client upon a failed attempt", async () => {
  const client = start();
  client.state$.subscribe((state) => {
    if (state.kind === "connecting" && state.attempt === 1) void client.close();
  });
  await expect(client.get("/a")).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
});

test.each([
  ["closes the connection without an answer", (line: { reset(): void }) => line.reset()],
  [
    "answers something else than ZooKeeper",
    (line: { socket: { end(text: string): void } }) => line.socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
  ],
] as const)("a server that %s is distinguished from one that refuses connections", async (_, act) => {
  await using server = await ScriptedServer.start();
  const failed = Promise.withResolvers<string>();
  zk = createClient(server.hosts, { random: () => 0 });
  zk.state$.subscribe((state) => {
    if (state.kind === "connecting" && state.reason !== undefined) failed.resolve(state.reason);
  });
  const line = await server.accept();
  await line.hello();
  act(line);
  expect(await failed.promise).not.toContain("ECONNREFUSED");
});

test("a call that waited without success has the reasons too", async () => {
  const client = start({ waitingTimeoutMs: 200 });
  const error = await errorOf(client.get("/a"));
  expect([error.code, error.outcome]).toEqual(["CONNECTION_LOSS", "not-sent"]);
  expect(error.message).toContain(hosts);
  expect((error.cause as AggregateError).errors).toHaveLength(1);
  const timeout = await errorOf(client.get("/a", { timeoutMs: 1 }));
  expect([timeout.code, timeout.message.includes(hosts)]).toEqual(["OPERATION_TIMEOUT", true]);
});

test("a logger gets one warning for each time without a connection, and every attempt", async () => {
  const { logger, records, warned } = recorder();
  const client = start({ logger, connectWarningMs: 20 });
  await warned;
  // Further attempts and timers cause no further warning.
  await firstValueFrom(client.state$.pipe(filter((state) => state.kind === "connecting" && (state.attempt ?? 0) > 3)));
  await errorOf(client.get("/a", { timeoutMs: 50 }));
  expect(records.filter(({ level }) => level === "warn")).toHaveLength(1);
  expect(records.find(({ level }) => level === "debug")?.fields).toMatchObject({ server: hosts, attempt: 1 });
  expect(() => JSON.stringify(records)).not.toThrow();
});

test("without a logger the warning is one of the process", async () => {
  const warning = once(process, "warning");
  start({ connectWarningMs: 1 });
  expect((await warning)[0]).toMatchObject({ name: "ZooidWarning", code: "ZOOID_NO_CONNECTION" });
});

test("a logger gets connections, and the end of a session", async () => {
  await using server = await ScriptedServer.start();
  const { logger, records } = recorder();
  zk = createClient(server.hosts, { random: () => 0, logger });
  await server.session();
  await zk.connected();
  const states = records.filter(({ level }) => level === "info").map(({ fields }) => fields);
  expect(states).toMatchObject([{ state: "connecting" }, { state: "connected", server: server.hosts }]);
});

test("attempts, connections and their ends are published on a channel", async () => {
  const seen: ConnectionMessage[] = [];
  const hear = (message: unknown): void => void seen.push(message as ConnectionMessage);
  subscribe("zk:client:connection", hear);
  onTestFinished(() => void unsubscribe("zk:client:connection", hear));
  await using server = await ScriptedServer.start();
  zk = createClient(server.hosts, { random: () => 0 });
  (await server.accept()).reset();
  const line = await server.session();
  await zk.connected();
  line.reset();
  await firstValueFrom(zk.state$.pipe(filter(({ kind }) => kind === "suspended")));
  expect(seen.map(({ kind, server: address, attempt }) => [kind, address, attempt])).toEqual([
    ["failed", server.hosts, 1],
    ["connected", server.hosts, 1],
    ["closed", server.hosts, 0],
  ]);
});

test.each([
  ["zooid:*", 2],
  ["other zooid:client:connection", 1],
  ["zooid:*,-zooid:client:state", 1],
  ["zooid", 0],
  ["*", 2],
])("DEBUG=%s selects namespaces", async (names, count) => {
  const lines: string[] = [];
  onTestFinished(printDebug(names, (line) => void lines.push(line)));
  await using server = await ScriptedServer.start();
  zk = createClient(server.hosts, { random: () => 0 });
  await server.session();
  await zk.connected();
  const namespaces = new Set(lines.map((line) => line.split(" ")[0]));
  expect(namespaces.size).toBe(count);
});

test("a server whose address is silent is left for the next one", async () => {
  await using silent = await SilentPort.open();
  await using server = await ScriptedServer.start();
  zk = createClient(`127.0.0.1:${silent.port},${server.hosts}`, {
    connectTimeoutMs: Number.POSITIVE_INFINITY,
    connectWarningMs: Number.POSITIVE_INFINITY,
    hostOrder: "given",
  });
  await server.session();
  await zk.connected();
});
