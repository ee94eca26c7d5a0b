/** Every option does something: each test here fails when its option is ignored. */
import { OpCode, READ_ONLY_ACL, type SessionId } from "@zooid/model";
import { filter, firstValueFrom, lastValueFrom } from "rxjs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RetryPolicy } from "./calls/retry.ts";
import type { Client } from "./client.ts";
import { connect, createClient } from "./connect.ts";
import { isZkError } from "./errors.ts";
import { type ClientOptions, parseClientOptions } from "./options.ts";
import {
  answer,
  createAnswer,
  dataAnswer,
  REFUSED,
  type ScriptedLine,
  ScriptedServer,
} from "./testing/scripted-server.ts";
import { tcpTransport } from "./transport/tcp-transport.ts";

let server: ScriptedServer;
let zk: Client | undefined;

beforeEach(async () => {
  server = await ScriptedServer.start();
});

afterEach(async () => {
  await zk?.close();
  zk = undefined;
  await server[Symbol.asyncDispose]();
});

function start(options: ClientOptions): Client {
  zk = createClient(server.hosts, { random: () => 0, ...options });
  return zk;
}

/** A client's connection, where everything is answered. */
async function serve(greeting = {}): Promise<ScriptedLine> {
  const line = await server.session(greeting);
  line.serve((request) => {
    if (request.op === OpCode.GET_DATA) return dataAnswer(request, "");
    return request.op === OpCode.CREATE2 ? createAnswer(request) : answer(request);
  });
  await zk?.connected();
  return line;
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "OK",
    (error) => (isZkError(error) ? error.code : String(error)),
  );
}

test("invalid options are refused at once, with every problem", () => {
  const wrong = {
    sessionTimeoutMs: 0,
    connectTimeoutMs: -1,
    startTimeoutMs: Number.NaN,
    auth: [{ scheme: "", auth: "" }],
    readOnly: "always",
    session: { id: 0n, password: new Uint8Array(16) },
    onExpiry: "panic",
    onRegression: "hope",
    hostOrder: "best",
    frameBytesMax: 10,
    responseBytesMax: 10,
    inFlightMax: 0,
    waitingMax: -1,
    waitingBytesMax: 2 ** 40,
    waitingTimeoutMs: "5",
    connectWarningMs: Number.NEGATIVE_INFINITY,
    acl: [],
  } as unknown as ClientOptions;
  const said = (() => {
    try {
      parseClientOptions(wrong);
      return "";
    } catch (error) {
      return String(error);
    }
  })();
  for (const name of Object.keys(wrong)) expect(said).toContain(name);
});

test("sessionTimeoutMs, readOnly and session are in the first frame", async () => {
  const password = new Uint8Array(16).fill(3);
  start({ sessionTimeoutMs: 12_345, readOnly: "allow", session: { id: 0x42n, password } });
  const line = await serve({ sessionId: 0x42n as SessionId });
  const hello = await line.hello();
  expect(hello).toMatchObject({ timeoutMs: 12_345, readOnly: true, sessionId: 0x42n });
  expect([...hello.password.bytes.subarray(hello.password.start, hello.password.end)]).toEqual([...password]);
});

test("readOnly shows in the state of a client that a read-only server has taken", async () => {
  const client = start({ readOnly: "allow" });
  await serve({ readOnly: true });
  expect(client.state.kind).toBe("read-only");
  expect(client.aliveForMs).toBeGreaterThan(0);
});

test("connectTimeoutMs is the session's timeout shared among the hosts unless it is given", async () => {
  const dialled: number[] = [];
  const silent = {
    ...tcpTransport,
    connect: () => ({ write: () => true, destroy: () => dialled.push(performance.now()) }),
  };
  const host = { host: "127.0.0.1", port: 1 };
  for (const options of [
    { connectTimeoutMs: 20 },
    { sessionTimeoutMs: 60, hosts: { hosts: () => [host, host, host] } },
  ]) {
    dialled.length = 0;
    const client = start({ ...options, transport: silent });
    await expect.poll(() => dialled.length).toBeGreaterThan(1);
    await client.close();
  }
});

test("startTimeoutMs and signal end connecting", async () => {
  expect(await codeOf(connect(server.hosts, { startTimeoutMs: 20 }))).toBe("OPERATION_TIMEOUT");
  expect(await codeOf(connect(server.hosts, { signal: AbortSignal.abort(new Error("no")) }))).toBe("Error: no");
});

test("auth is sent before anything else", async () => {
  start({ auth: [{ scheme: "digest", auth: "a:b" }] })
    .get("/a")
    .catch(() => {});
  const line = await server.session();
  expect((await line.requests(2)).map(({ op }) => op)).toEqual([OpCode.AUTH, OpCode.GET_DATA]);
  line.serve((request) => answer(request));
});

test("retry is asked for every call that has no policy of its own", async () => {
  const asked: string[] = [];
  const policy = (name: string) => () => {
    asked.push(name);
    return false as const;
  };
  const client = start({ retry: policy("client's") });
  const line = await server.session();
  line.serve((request) => answer(request, { code: request.op === OpCode.GET_DATA ? -127 : 0 }));
  expect(await codeOf(client.get("/a"))).toBe("THROTTLED_OP");
  expect(await codeOf(client.get("/a", { retry: policy("call's") }))).toBe("THROTTLED_OP");
  expect(asked).toEqual(["client's", "call's"]);
});

test("a policy gets the number of the failed attempt, and the time since the first one", async () => {
  const failed: { readonly count: number; readonly elapsedMs: number }[] = [];
  const retry: RetryPolicy = ({ count, elapsedMs }) => {
    failed.push({ count, elapsedMs });
    return count < 4 ? 2 : false;
  };
  const client = start({ retry });
  const line = await server.session();
  line.serve((request) => answer(request, { code: -127 }));
  const startMs = performance.now();
  expect(await codeOf(client.get("/a"))).toBe("THROTTLED_OP");
  const inAllMs = performance.now() - startMs;
  expect(failed.map(({ count }) => count)).toEqual([1, 2, 3, 4]);
  const times = failed.map(({ elapsedMs }) => elapsedMs);
  expect(times.filter((ms) => ms < 0 || ms > inAllMs)).toEqual([]);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test.each([
  ["new-session", "connected"],
  ["close", "closed"],
] as const)("onExpiry %s", async (onExpiry, kind) => {
  const client = start({ onExpiry });
  (await serve()).reset();
  await server.session(REFUSED);
  if (onExpiry === "new-session") await serve();
  await expect.poll(() => client.state.kind).toBe(kind);
});

test("a client that ends with its session completes its states, and fails its streams once, armed or not", async () => {
  const client = start({ onExpiry: "close" });
  const states = lastValueFrom(client.state$);
  const errors: unknown[] = [];
  const watch = (path: string): void => {
    client.events$(path).subscribe({ error: (error: unknown) => errors.push(isZkError(error) && error.code) });
  };
  const line = await serve();
  watch("/armed");
  await client.get("/a");
  line.reset();
  await firstValueFrom(client.state$.pipe(filter(({ kind }) => kind === "suspended")));
  watch("/not-armed");
  await server.session(REFUSED);
  expect((await states).kind).toBe("closed");
  expect(errors).toEqual(["SESSION_EXPIRED", "SESSION_EXPIRED"]);
});

test.each([
  ["reset", 0],
  ["wait", 1],
] as const)("onRegression %s", async (onRegression, lastZxidSeen) => {
  const client = start({ onRegression, sessionTimeoutMs: 400 });
  const line = await serve({ timeoutMs: 400 });
  await client.get("/a");
  line.reset();
  await expect.poll(() => client.state.kind).toBe("lost");
  for (let i = 0; i < 6; i++) {
    const refusing = await server.accept();
    await refusing.hello();
    refusing.reset();
  }
  expect((await (await serve()).hello()).lastZxidSeen).toBe(lastZxidSeen);
});

test.each([
  ["given", ["a", "b", "c"]],
  ["random", ["b", "c", "a"]],
] as const)("hostOrder %s, and random decides", async (hostOrder, order) => {
  const asked: string[] = [];
  const resolve = async ({ host }: { host: string }) => {
    asked.push(host);
    return [];
  };
  zk = createClient("a,b,c", { hostOrder, random: () => 0, transport: { ...tcpTransport, resolve } });
  await expect.poll(() => asked.slice(0, 3)).toEqual(order);
});

test("frameBytesMax bounds requests, responseBytesMax answers", async () => {
  const client = start({ frameBytesMax: 2_000, responseBytesMax: 2_000 });
  const line = await serve();
  expect(await codeOf(client.set("/a", new Uint8Array(2_000)))).toBe("PACKET_TOO_LARGE");
  line.serve((request) => (request.op === OpCode.GET_DATA ? dataAnswer(request, "x".repeat(2_000)) : answer(request)));
  expect(await codeOf(client.get("/a"))).toBe("PACKET_TOO_LARGE");
});

test("a request that its server may have found too large is named where the connection ends", async () => {
  const client = start({ frameBytesMax: 4 * 2 ** 20 });
  const line = await serve();
  line.serve((request) => {
    if (request.op === OpCode.SET_DATA) line.reset();
    return answer(request);
  });
  const error = await client.set("/a", new Uint8Array(2 ** 20)).catch((thrown: unknown) => thrown);
  const reason =
    "the request has 1048598 bytes, and a server closes the connection on one above its jute.maxbuffer, 1048575";
  expect(error).toMatchObject({ code: "CONNECTION_LOSS", outcome: "unknown", reason: expect.stringContaining(reason) });
  expect(String(error)).toContain(reason);
});

test("inFlightMax, waitingMax, waitingBytesMax and waitingTimeoutMs bound what waits", async () => {
  const bounds = { inFlightMax: 1, waitingMax: 3, waitingBytesMax: 1_000, waitingTimeoutMs: 30 };
  const client = start(bounds);
  const early = codeOf(client.get("/early"));
  const line = await server.accept();
  expect(await early, "no server answers").toBe("CONNECTION_LOSS");
  await line.greet();
  await client.connected();
  const calls = [client.get("/in-flight"), client.set("/large", new Uint8Array(2_000)), client.get("/1")];
  calls.push(client.get("/2"), client.get("/3"), client.get("/4"));
  const codes = Promise.all(calls.map(codeOf));
  await line.request();
  line.send(dataAnswer({ xid: 1 }, ""));
  expect((await line.request()).path, "one at a time").toBe("/1");
  line.send(dataAnswer({ xid: 2 }, ""));
  line.serve((request) => dataAnswer(request, ""));
  expect(await codes).toEqual(["OK", "QUEUE_FULL", "OK", "OK", "OK", "QUEUE_FULL"]);
});

test("acl is what nodes are made with, unless the call says otherwise", async () => {
  const client = start({ acl: READ_ONLY_ACL });
  const line = await server.session();
  const bodies = [
    client.create("/a"),
    client.create("/a", "", { acl: READ_ONLY_ACL }),
    client.transaction().create("/a").commit(),
  ];
  for (const body of bodies) body.catch(() => {});
  const [plain, explicit, multi] = await line.requests(3);
  expect(plain?.body).toEqual(explicit?.body);
  expect(multi?.body.includes(Buffer.from([0, 0, 0, 1, 0, 0, 0, 5, ...Buffer.from("world")]))).toBe(true);
  line.serve((request) => answer(request));
});

test("times are any number of milliseconds from 0 to Infinity", async () => {
  const names = ["connectTimeoutMs", "startTimeoutMs", "connectWarningMs", "waitingTimeoutMs"] as const;
  for (const ms of [0, 0.5, 2 ** 31, Number.MAX_VALUE, Number.POSITIVE_INFINITY]) {
    for (const name of names) expect(parseClientOptions({ [name]: ms })[name]).toBe(ms);
  }
  // A timer that fired at once would end the attempt, and the call.
  for (const ms of [2 ** 31, Number.POSITIVE_INFINITY]) {
    const client = start({ connectTimeoutMs: ms, waitingTimeoutMs: ms });
    const early = client.get("/early");
    await serve();
    await early;
    await client.close();
  }
});
