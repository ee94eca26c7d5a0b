/**
 * Connections that end, stall and fill up at every moment: every call settles once, and the client
 * leaves no resources behind.
 */
import { OpCode } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { retry } from "../calls/retry.ts";
import { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { isZkError } from "../errors.ts";
import { BackgroundDeletes } from "../operations/background-deletes.ts";
import { type ClientOptions, parseClientOptions } from "../options.ts";
import { Observations } from "../streams/observe.ts";
import { ProcessNoise } from "../testing/process-noise.ts";
import {
  answer,
  dataAnswer,
  event,
  honestAnswer,
  type ScriptedLine,
  ScriptedServer,
  statAnswer,
} from "../testing/scripted-server.ts";
import { SessionDriver } from "./session-driver.ts";

let noise: ProcessNoise;
let server: ScriptedServer;
let zk: Client;
let line: ScriptedLine;

beforeEach(async () => {
  noise = new ProcessNoise();
  server = await ScriptedServer.start();
});

afterEach(async () => {
  if (!line.isClosed) line.serve(honestAnswer);
  await zk.close();
  expect(zk.watchCount).toBe(0);
  await expect.poll(() => server.openCount).toBe(0);
  await server[Symbol.asyncDispose]();
  expect(await noise.end()).toEqual([]);
});

async function open(options: ClientOptions = {}, greeting = {}): Promise<void> {
  [zk, line] = await Promise.all([connect(server.hosts, { random: () => 0, ...options }), server.session(greeting)]);
}

/** The outcome of a call, in a word. */
function word(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "OK",
    (error) => (isZkError(error) ? `${error.code} ${error.outcome}` : String(error)),
  );
}

test("reads are repeated until a server that closes after each answer has answered all", async () => {
  await open({ retry: retry.forever(0) });
  const reads = Promise.all(["/a", "/b", "/c", "/d"].map((path) => zk.get(path)));
  for (let i = 0; i < 4; i++) {
    const request = await line.request();
    line.socket.end(dataAnswer(request, request.path));
    line = await server.session();
  }
  expect((await reads).map(({ stat }) => stat.dataLength)).toEqual([2, 2, 2, 2]);
  line.serve(honestAnswer);
});

test("a reset in any phase leaves writes that were sent with an unknown outcome, and no others", async () => {
  await open();
  const sent = word(zk.set("/sent", ""));
  await line.request();
  // Made in the turn in which the connection is lost: sent or not, its outcome is reported
  // correctly.
  line.reset();
  expect(await sent).toBe("CONNECTION_LOSS unknown");
  const offline = word(zk.set("/offline", ""));
  (await server.accept()).reset();
  const greeting = await server.accept();
  await greeting.hello();
  greeting.reset();
  line = await server.session();
  line.serve(honestAnswer);
  expect(await offline).toBe("OK");
});

test("closing waits a limited time for an unresponsive server, and earlier calls end with an unknown outcome", async () => {
  await open({}, { timeoutMs: 400 });
  line.answersPings = false;
  const write = word(zk.set("/a", ""));
  const closing = zk.close();
  const late = word(zk.get("/late"));
  const [, close] = await line.requests(2);
  expect(close?.op).toBe(OpCode.CLOSE_SESSION);
  await closing;
  expect(await write).toBe("CLIENT_CLOSED unknown");
  expect(await late).toBe("CLIENT_CLOSED not-sent");
  await line.closed;
});

test("a call waits for the next connection no longer than waitingTimeoutMs, however it came to wait", async () => {
  await open({ waitingTimeoutMs: 50, inFlightMax: 1 });
  const inFlight = word(zk.get("/sent"));
  const waiting = word(zk.set("/waiting", ""));
  await line.request();
  line.reset();
  const offline = word(zk.get("/offline"));
  // The next connection comes, and its server does not say a word.
  const next = await server.accept();
  const ends = await Promise.all([inFlight, waiting, offline]);
  expect(new Set(ends)).toEqual(new Set(["CONNECTION_LOSS not-sent"]));
  next.reset();
});

test("a close that insists on its answer is sent again on the next connection, behind the calls that wait", async () => {
  await open();
  const read = word(zk.get("/read"));
  const write = word(zk.set("/write", ""));
  const closing = zk.close({ timeoutMs: Number.POSITIVE_INFINITY });
  const { GET_DATA, SET_DATA, CLOSE_SESSION } = OpCode;
  expect((await line.requests(3)).map(({ op }) => op)).toEqual([GET_DATA, SET_DATA, CLOSE_SESSION]);
  line.reset();
  expect(await write).toBe("CONNECTION_LOSS unknown");
  line = await server.session();
  const again = await line.requests(2);
  expect(again.map(({ op }) => op)).toEqual([GET_DATA, CLOSE_SESSION]);
  for (const request of again) line.send(request.op === GET_DATA ? dataAnswer(request, "") : answer(request));
  expect(await read).toBe("OK");
  await closing;
});

test("data behind the answer to close is ignored", async () => {
  await open();
  const received: string[] = [];
  zk.events$("/a").subscribe(({ type }) => received.push(type));
  line.send(answer(await line.request()));
  const got = zk.get("/a");
  line.send(dataAnswer(await line.request(), ""));
  await got;
  const closing = zk.close();
  line.send(answer(await line.request()), event(3, "/a"), dataAnswer({ xid: 77 }, ""));
  await closing;
  expect(received).toEqual([]);
});

test("a simultaneous close by the server counts as confirmation", async () => {
  await open();
  const closing = zk.close();
  await line.request();
  line.reset();
  await closing;
  expect(zk.state.kind).toBe("closed");
});

test("pings that are never answered end the connection, though events come", async () => {
  await open({}, { timeoutMs: 400 });
  line.answersPings = false;
  const events = setInterval(() => line.send(event(3, "/a")), 10);
  await line.closed;
  clearInterval(events);
  expect(line.pingCount).toBeGreaterThan(0);
  expect(zk.state.kind).not.toBe("connected");
  line = await server.session();
  line.serve(honestAnswer);
  await zk.connected();
});

test("ten thousand calls to a slow reader keep their order, and calls that were not sent go to the next connection", async () => {
  await open({ inFlightMax: 20_000, waitingMax: 20_000, waitingBytesMax: 2 ** 30 });
  line.socket.pause();
  const data = new Uint8Array(2_000);
  const words = Array.from({ length: 10_000 }, (_, i) => word(zk.set(`/${i}`, data)));
  const seen: number[][] = [[], []];
  const serve = (which: number, last: number): void => {
    line.serve((request) => {
      if (request.op !== OpCode.SET_DATA) return answer(request);
      seen[which]?.push(Number(request.path.slice(1)));
      if (request.path === `/${last}`) line.socket.pause();
      return statAnswer(request);
    });
  };
  // From here on the server reads nothing.
  serve(0, 5_000);
  line.socket.resume();
  await Promise.all(words.slice(0, 5_000));
  line.reset();
  line = await server.session();
  serve(1, Number.NaN);
  const said = await Promise.all(words);
  const firstDoubt = said.indexOf("CONNECTION_LOSS unknown");
  const lastDoubt = said.lastIndexOf("CONNECTION_LOSS unknown");
  expect(new Set(said.slice(firstDoubt, lastDoubt + 1))).toEqual(new Set(["CONNECTION_LOSS unknown"]));
  const others = [...said.slice(0, firstDoubt), ...said.slice(lastDoubt + 1)];
  expect(new Set(others)).toEqual(new Set(["OK"]));
  expect(seen[0]?.every((i, at) => i === at)).toBe(true);
  expect(seen[1]?.[0], "the first that was not sent").toBe(lastDoubt + 1);
  expect(seen[1]?.every((i, at) => i === lastDoubt + 1 + at)).toBe(true);
});

test("calls held back by a full connection are sent on the next one, in order", async () => {
  await open({ waitingMax: 20_000, waitingBytesMax: 2 ** 30, inFlightMax: 5 });
  const words = Array.from({ length: 50 }, (_, i) => word(zk.set(`/${i}`, "")));
  await line.requests(5);
  line.reset();
  const seen: string[] = [];
  line = await server.session();
  line.serve((request) => {
    if (request.path !== "") seen.push(request.path);
    return honestAnswer(request);
  });
  const said = await Promise.all(words);
  expect(said.slice(0, 5)).toEqual(Array(5).fill("CONNECTION_LOSS unknown"));
  expect(said.slice(5)).toEqual(Array(45).fill("OK"));
  expect(seen).toEqual(Array.from({ length: 45 }, (_, i) => `/${i + 5}`));
});

test("thirty thousand waiting calls need little memory, and none is lost", async () => {
  await open({ inFlightMax: 30_000, waitingMax: 30_000, waitingBytesMax: 2 ** 30, retry: retry.none });
  const before = process.memoryUsage();
  const calls = Array.from({ length: 30_000 }, () => zk.set("/a", ""));
  const after = process.memoryUsage();
  const bytes = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  expect(bytes / calls.length, "bytes per call").toBeLessThan(2_000);
  const words = calls.map(word);
  line.serve(() => undefined);
  line.reset();
  const counts = Map.groupBy(await Promise.all(words), (said) => said);
  line = await server.session();
  line.serve(honestAnswer);
  expect([...counts.keys()].sort()).toEqual(["CONNECTION_LOSS unknown"]);
}, 20_000);

test("xids start again after the largest int", async () => {
  const driver = new SessionDriver(
    parseClientOptions({ random: () => 0 }),
    { hosts: () => [{ host: "127.0.0.1", port: server.port }] },
    2 ** 31 - 3,
  );
  driver.start();
  zk = new Client({ driver, observations: new Observations(driver), deletes: new BackgroundDeletes(driver) }, "/");
  line = await server.session();
  const xids: number[] = [];
  line.serve((request) => {
    xids.push(request.xid);
    return honestAnswer(request);
  });
  await Promise.all(["/a", "/b", "/c", "/d"].map((path) => zk.get(path)));
  expect(xids).toEqual([2 ** 31 - 2, 2 ** 31 - 1, 1, 2]);
});

test("a call that times out while it waits for a retry, or for a connection for its credentials, counts as not sent", async () => {
  await open();
  const throttled = word(zk.set("/a", "", { timeoutMs: 30, retry: retry.forever(60_000) }));
  line.send(answer(await line.request(), { code: -127 }));
  expect(await throttled).toBe("OPERATION_TIMEOUT not-sent");
  line.reset();
  const next = await server.accept();
  expect(await word(zk.addAuth("digest", "a:b", { timeoutMs: 20 }))).toBe("OPERATION_TIMEOUT not-sent");
  await next.greet();
  next.serve(honestAnswer);
  await zk.connected();
});

test("a client that is closed in the middle of its work leaves no timers and connections", async () => {
  const running = (): string[] =>
    process.getActiveResourcesInfo().filter((name) => name === "Timeout" || name === "TCPSocketWrap");
  await open();
  line.serve(honestAnswer);
  await zk.get("/warm");
  const before = running().length;
  for (const stage of ["connected", "greeting", "waiting"]) {
    const [client, mine] = await Promise.all([connect(server.hosts, { random: () => 1 }), server.session()]);
    mine.serve(honestAnswer);
    const calls = [client.get("/a", { timeoutMs: 60_000 }), client.set("/a", "", { timeoutMs: 60_000 })].map(word);
    client.watchData$("/a").subscribe();
    await Promise.all(calls);
    if (stage !== "connected") mine.reset();
    if (stage === "greeting") await (await server.accept()).hello();
    await client.close();
  }
  await expect.poll(() => running().length).toBe(before);
});
