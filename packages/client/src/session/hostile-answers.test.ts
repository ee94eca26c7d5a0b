/**
 * Answers of a misbehaving server: every call settles once, correctly, and the client continues on
 * the next connection.
 */
import { OpCode } from "@zooid/model";
import { Subject } from "rxjs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { retry } from "../calls/retry.ts";
import type { Client } from "../client.ts";
import { connect } from "../connect.ts";
import { isZkError, type ZkError } from "../errors.ts";
import type { ClientOptions } from "../options.ts";
import { ProcessNoise } from "../testing/process-noise.ts";
import {
  answer,
  createAnswer,
  dataAnswer,
  event,
  frame,
  type ScriptedLine,
  ScriptedServer,
  statAnswer,
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
let line: ScriptedLine;

beforeEach(async () => {
  server = await ScriptedServer.start();
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
});

/** A client and the server's end of its first connection. */
async function open(options: ClientOptions = {}): Promise<AsyncDisposable> {
  const [client, first] = await Promise.all([
    connect(server.hosts, { random: () => 0, sessionTimeoutMs: 30_000, ...options }),
    server.session(),
  ]);
  zk = client;
  line = first;
  return { [Symbol.asyncDispose]: () => closed(client, line) };
}

/** Closes the client; its current connection confirms. */
async function closed(client: Client, last: ScriptedLine): Promise<void> {
  last.serve((request) => (request.op === OpCode.CLOSE_SESSION ? answer(request) : undefined));
  await client.close();
  expect(client.watchCount).toBe(0);
  await last.closed;
}

async function failure(promise: Promise<unknown>): Promise<ZkError> {
  const error = await promise.then(
    () => new Error("it succeeded"),
    (reason: unknown) => reason,
  );
  if (!isZkError(error)) throw error;
  return error;
}

describe("the stream of bytes", () => {
  test("an answer may be cut at every byte", async () => {
    await using _ = await open();
    const whole = dataAnswer({ xid: 1 }, "x");
    for (let cut = 1; cut < whole.length; cut++) {
      const got = zk.get("/a");
      const bytes = dataAnswer(await line.request(), "x");
      await new Promise<void>((sent) => line.socket.write(bytes.subarray(0, cut), () => sent()));
      await new Promise((resolve) => setImmediate(resolve));
      line.socket.write(bytes.subarray(cut));
      expect((await got).data).toEqual(Uint8Array.of(120));
    }
  });

  test("an answer may come byte by byte", async () => {
    await using _ = await open();
    const got = zk.get("/a");
    await line.dribble(dataAnswer(await line.request(), "slowly"));
    expect((await got).stat.dataLength).toBe(6);
  });

  test("answers and events of one chunk are handled in order", async () => {
    await using _ = await open();
    const received: string[] = [];
    const events = zk.events$("/a").subscribe(({ type }) => received.push(type));
    line.send(answer(await line.request()));
    const gets = ["one", "two"].map((name) =>
      zk
        .watchData$(`/${name}`)
        .subscribe((node) => received.push(node.exists ? Buffer.from(node.data ?? []).toString() : "gone")),
    );
    const [first, second] = (await line.requests(2)).map((request) => dataAnswer(request, request.path));
    line.send(event(3, "/a"), first ?? NOTHING, event(4, "/a"), second ?? NOTHING);
    const done = zk.get("/end");
    line.send(dataAnswer(await line.request(), ""));
    await done;
    expect(received).toEqual(["data-changed", "/one", "children-changed", "/two"]);
    for (const subscription of [events, ...gets]) subscription.unsubscribe();
  });

  test("bytes behind an answer's last field are ignored", async () => {
    await using _ = await open();
    const got = zk.set("/a", "");
    const request = await line.request();
    const honest = statAnswer(request).subarray(4);
    line.send(frame((writer) => writer.raw(Buffer.concat([honest, Buffer.from("more")]), 0, honest.length + 4)));
    expect((await got).version).toBe(0);
  });
});

const NOTHING = Buffer.alloc(0);

describe("answers that make the stream unreadable", () => {
  const length = (bytes: number): Buffer => {
    const buffer = Buffer.alloc(4);
    buffer.writeInt32BE(bytes);
    return buffer;
  };
  const CASES: readonly (readonly [string, (request: { xid: number }) => Buffer])[] = [
    ["an answer with another xid", ({ xid }) => dataAnswer({ xid: xid + 7 }, "")],
    ["an answer with xid 0", () => dataAnswer({ xid: 0 }, "")],
    ["an answer with a negative xid without a meaning", () => dataAnswer({ xid: -8 }, "")],
    ["an event of an unknown type", () => event(9, "/a")],
    ["an event without a body", () => answer({ xid: -1 })],
    ["a frame with half a header", () => frame((writer) => writer.int(1))],
  ];

  test.each(CASES)(
    "%s: a read is asked again on the next connection, a write's outcome is unknown, with the cause",
    async (_name, bad) => {
      await using _ = await open();
      const read = zk.get("/a");
      const write = failure(zk.set("/a", ""));
      const [request] = await line.requests(2);
      line.send(bad(request ?? { xid: 0 }));
      await line.closed;
      const cause = expect.objectContaining({ name: "WireError" });
      expect(await write).toMatchObject({ code: "CONNECTION_LOSS", outcome: "unknown", cause });
      line = await server.session();
      line.send(dataAnswer(await line.request(), "again"));
      expect((await read).stat.dataLength).toBe(5);
    },
  );

  test("a duplicate answer ends the connection, and the answered call stays answered", async () => {
    await using _ = await open();
    const read = zk.get("/a");
    const request = await line.request();
    line.send(dataAnswer(request, "one"), dataAnswer(request, "two"));
    expect((await read).stat.dataLength).toBe(3);
    await line.closed;
    line = await server.session();
  });

  test("an answer without a request ends the connection", async () => {
    await using _ = await open();
    line.send(dataAnswer({ xid: 5 }, ""));
    await line.closed;
    line = await server.session();
  });

  const BODIES: readonly (readonly [string, (request: { xid: number }) => Buffer])[] = [
    ["no body", (request) => answer(request)],
    ["data longer than their frame", (request) => answer(request, {}, (writer) => writer.int(1_000_000))],
    ["data of a negative length", (request) => answer(request, {}, (writer) => writer.int(-7))],
    ["half a Stat", (request) => dataAnswer(request, "").subarray(0, 60)],
  ];

  test.each(BODIES)("%s: the call that was answered so is received, the others continue", async (_name, bad) => {
    await using _ = await open();
    const broken = failure(zk.get("/a"));
    const other = zk.get("/b");
    const [request] = await line.requests(2);
    const bytes = Buffer.from(bad(request ?? { xid: 0 }));
    bytes.writeInt32BE(bytes.length - 4);
    line.send(bytes);
    const error = await broken;
    expect(error).toMatchObject({ code: "MARSHALLING_ERROR", outcome: "unknown", path: "/a" });
    expect(error.message).toContain("the answer could not be read");
    line = await server.session();
    line.send(dataAnswer(await line.request(), "b"));
    expect((await other).stat.dataLength).toBe(1);
  });

  test("an answer of a million empty names fails its call, and the client continues on another connection", async () => {
    await using _ = await open();
    const listing = failure(zk.children("/a"));
    const request = await line.request();
    const COUNT = 1_000_000;
    line.send(
      answer(request, {}, (writer) => {
        writer.int(COUNT);
        for (let i = 0; i < COUNT; i++) writer.int(0);
      }),
    );
    expect(await listing).toMatchObject({ code: "MARSHALLING_ERROR", outcome: "unknown" });
    line = await server.session();
    const next = zk.exists("/b");
    line.send(statAnswer(await line.request()));
    expect(await next).toMatchObject({ dataLength: 0 });
  });

  test("an answer that claims more bytes than the limit fails its call before they come, and is skipped", async () => {
    await using _ = await open();
    const [large, small] = [failure(zk.get("/a")), zk.get("/b")];
    const [first, second] = await line.requests(2);
    if (first === undefined || second === undefined) throw new Error("two requests were sent");
    const bytes = 100_000_000;
    line.send(length(bytes), answer(first).subarray(4));
    expect(await large).toMatchObject({ code: "PACKET_TOO_LARGE", outcome: "rejected" });
    const chunk = Buffer.alloc(1_000_000);
    for (let rest = bytes - 16; rest > 0; rest -= chunk.length) line.send(chunk.subarray(0, rest));
    line.send(dataAnswer(second, "b"));
    expect((await small).stat.dataLength).toBe(1);
  });

  test("a large answer to another request than the oldest is unreadable", async () => {
    await using _ = await open();
    const broken = failure(zk.get("/a"));
    await line.request();
    line.send(length(100_000_000), answer({ xid: 77 }).subarray(4));
    expect(await broken).toMatchObject({ code: "PACKET_TOO_LARGE", outcome: "unknown" });
    line = await server.session();
  });

  test.each([0, -5])("an answer that claims %i bytes is refused before they come", async (bytes) => {
    await using _ = await open();
    const broken = failure(zk.get("/a"));
    await line.request();
    line.send(length(bytes));
    expect(await broken).toMatchObject({ code: "PACKET_TOO_LARGE", outcome: "unknown" });
    line = await server.session();
  });

  test("a transaction's answer with fewer results than steps is an error", async () => {
    await using _ = await open();
    const broken = failure(zk.transaction().create("/a").delete("/b").commit());
    const request = await line.request();
    line.send(
      answer(request, {}, (writer) => {
        writer.int(-1);
        writer.bool(true);
        writer.int(-1);
      }),
    );
    expect(await broken).toMatchObject({ code: "MARSHALLING_ERROR", outcome: "unknown" });
  });

  test("a stream survives damaged answers to other calls", async () => {
    await using _ = await open();
    const seen = new Subject<number>();
    const values: number[] = [];
    const stream = zk.watchData$("/a").subscribe({
      next: (node) => seen.next(node.exists ? (node.data?.length ?? 0) : -1),
      error: (error) => seen.error(error),
    });
    seen.subscribe((value) => values.push(value));
    await line.request();
    line.send(dataAnswer({ xid: 99 }, ""));
    line = await server.session();
    line.send(dataAnswer(await line.request(), "four"));
    await expect.poll(() => values).toEqual([4]);
    stream.unsubscribe();
  });
});

describe("transient refusals", () => {
  test("a throttled request is repeated, a write too, since it was not carried out", async () => {
    await using _ = await open({ retry: retry.times(3) });
    const made = zk.create("/a");
    for (let i = 0; i < 2; i++) line.send(answer(await line.request(), { code: -127 }));
    line.send(createAnswer(await line.request()));
    expect((await made).path).toBe("/a");
  });

  test("a request that stays throttled fails as rejected", async () => {
    await using _ = await open({ retry: retry.times(2) });
    const made = failure(zk.create("/a"));
    for (let i = 0; i < 2; i++) line.send(answer(await line.request(), { code: -127 }));
    expect(await made).toMatchObject({ code: "THROTTLED_OP", outcome: "rejected", retriable: true });
  });

  test("after SESSION_MOVED or SESSION_EXPIRED the client reconnects to learn the session's state", async () => {
    for (const [code, name] of [
      [-118, "SESSION_MOVED"],
      [-112, "SESSION_EXPIRED"],
    ] as const) {
      await using _ = await open({ retry: retry.none });
      const calls = [failure(zk.set("/a", "")), failure(zk.set("/b", ""))];
      const requests = await line.requests(2);
      // Both answers are read before the connection is left, so neither outcome is unknown.
      line.send(...requests.map((request) => answer(request, { code })));
      for (const error of await Promise.all(calls)) expect(error).toMatchObject({ code: name, outcome: "rejected" });
      await line.closed;
      line = await server.session();
      expect((await line.hello()).sessionId).toBe(0x77n);
    }
  });

  test.each([-118, -112])("streams continue over the answer %i", async (code) => {
    await using _ = await open();
    const received: string[] = [];
    const streams = [
      zk.watchData$("/a").subscribe({ next: () => received.push("data"), error: (error) => received.push(error.code) }),
      zk
        .events$("/a")
        .subscribe({ next: ({ type }) => received.push(type), error: (error) => received.push(error.code) }),
    ];
    line.send(...(await line.requests(2)).map((request) => answer(request, { code })));
    await line.closed;
    line = await server.session();
    line.serve((request) => (request.op === OpCode.GET_DATA ? dataAnswer(request, "") : answer(request)));
    await expect.poll(() => received).toEqual(["data"]);
    await expect.poll(() => zk.watchCount).toBe(2);
    line.send(event(3, "/a"));
    await expect.poll(() => received).toContain("data-changed");
    for (const stream of streams) stream.unsubscribe();
  });

  test("a write to a read-only server is refused and not repeated", async () => {
    await using _ = await open();
    const write = failure(zk.set("/a", ""));
    line.send(answer(await line.request(), { code: -119 }));
    expect(await write).toMatchObject({ code: "NOT_READ_ONLY", outcome: "rejected", retriable: false });
  });

  test.each([5, -9999, -1002])("the unknown code %i is reported as it is", async (code) => {
    await using _ = await open();
    const read = failure(zk.get("/a"));
    line.send(answer(await line.request(), { code }));
    expect(await read).toMatchObject({ code: `ERROR_${code}`, errno: code, outcome: "rejected" });
  });
});

describe("auth", () => {
  test("the answer to an auth packet may come before or after those of other requests", async () => {
    await using _ = await open();
    for (const isFirst of [true, false]) {
      const shown = zk.addAuth("digest", `user:${isFirst}`);
      const got = zk.get("/a");
      const [auth, get] = await line.requests(2);
      const answers = [answer(auth ?? { xid: 0 }), dataAnswer(get ?? { xid: 0 }, "")];
      line.send(...(isFirst ? answers : answers.reverse()));
      await Promise.all([shown, got]);
    }
  });

  test("a late AUTH_FAILED ends the client, and every call gets its outcome", async () => {
    const opened = await open();
    const shown = failure(zk.addAuth("digest", "a:b"));
    const got = zk.get("/a");
    const write = failure(zk.set("/a", ""));
    const [, get] = await line.requests(3);
    line.send(dataAnswer(get ?? { xid: 0 }, ""), answer({ xid: -4 }, { code: -115 }));
    await got;
    expect(await shown).toMatchObject({ code: "AUTH_FAILED", outcome: "rejected" });
    expect(await write).toMatchObject({ code: "AUTH_FAILED", outcome: "unknown" });
    expect(await failure(zk.get("/a"))).toMatchObject({ code: "AUTH_FAILED", outcome: "not-sent" });
    expect(zk.state.kind).toBe("auth-failed");
    await opened[Symbol.asyncDispose]();
  });

  test("another refusal of credentials only rejects its own call", async () => {
    await using _ = await open();
    const shown = failure(zk.addAuth("digest", "a:b"));
    line.send(answer(await line.request(), { code: -127 }));
    expect(await shown).toMatchObject({ code: "THROTTLED_OP", outcome: "rejected" });
    expect(zk.state.kind).toBe("connected");
  });

  test("an answer without an auth packet changes nothing", async () => {
    await using _ = await open();
    line.send(answer({ xid: -4 }));
    const got = zk.get("/a");
    line.send(dataAnswer(await line.request(), ""));
    await got;
  });
});

describe("watches", () => {
  test("removing a watch while a read that arms it waits for room leaves that read its watch", async () => {
    await using _ = await open({ inFlightMax: 1 });
    const first = zk.get("/a", { watch: true });
    line.send(dataAnswer(await line.request(), ""));
    const { watch } = await first;
    const busy = zk.get("/busy");
    const second = zk.get("/a", { watch: true });
    watch.remove();
    line.send(dataAnswer(await line.request(), ""));
    await busy;
    const arming = await line.request();
    expect(arming.op).toBe(OpCode.GET_DATA);
    line.send(dataAnswer(arming, ""));
    const { watch: kept } = await second;
    const after = zk.get("/after");
    const next = await line.request();
    expect(next.path, "no removal in between").toBe("/after");
    line.send(dataAnswer(next, ""), event(3, "/a"));
    await after;
    expect((await kept.fired).type).toBe("data-changed");
  });

  test("a postponed removal does not remove a watch that was armed since", async () => {
    await using _ = await open({ retry: retry.forever(0) });
    const first = zk.get("/a", { watch: true });
    line.send(dataAnswer(await line.request(), ""));
    (await first).watch.remove();
    const removal = await line.request();
    expect(removal.op).toBe(OpCode.REMOVE_WATCHES);
    const second = zk.get("/a", { watch: true });
    const arming = await line.request();
    line.send(answer(removal, { code: -127 }), dataAnswer(arming, ""));
    const { watch } = await second;
    // Due items come in order, so the postponed removal has had its turn when this limit is
    // reached.
    const limited = await failure(zk.get("/limited", { timeoutMs: 1 }));
    expect(limited.code).toBe("OPERATION_TIMEOUT");
    const after = zk.get("/after");
    const requests = await line.requests(2);
    expect(requests.map(({ path }) => path)).toEqual(["/limited", "/after"]);
    line.send(...requests.map((request) => dataAnswer(request, "")), event(3, "/a"));
    await after;
    expect((await watch.fired).type).toBe("data-changed");
  });

  test("the answer to setWatches may come late, behind events", async () => {
    await using _ = await open();
    const first = zk.get("/a", { watch: true });
    line.send(dataAnswer(await line.request(), ""));
    const { watch } = await first;
    line.reset();
    line = await server.session();
    const rearm = await line.request();
    expect(rearm.op).toBe(OpCode.SET_WATCHES);
    const got = zk.get("/b");
    const read = await line.request();
    line.send(event(3, "/a"));
    expect((await watch.fired).type).toBe("data-changed");
    line.send(answer(rearm), dataAnswer(read, ""));
    await got;
  });

  test("watches that a server refuses to arm again are armed on another connection", async () => {
    await using _ = await open({ retry: retry.none });
    const first = zk.get("/a", { watch: true });
    line.send(dataAnswer(await line.request(), ""));
    const { watch } = await first;
    line.reset();
    line = await server.session();
    line.send(answer(await line.request(), { code: -5 }));
    await line.closed;
    line = await server.session();
    line.send(answer(await line.request()), event(2, "/a"));
    expect((await watch.fired).type).toBe("deleted");
  });

  test("an event without a watcher, or without a path, is ignored", async () => {
    await using _ = await open();
    line.send(event(1, "/unwatched"), event(2, ""));
    const got = zk.get("/a");
    line.send(dataAnswer(await line.request(), ""));
    await got;
  });
});
