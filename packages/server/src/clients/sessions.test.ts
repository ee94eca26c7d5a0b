import { OpCode, SESSION_NONE, type SessionId, sliceText } from "@zooid/model";
import { connectRequest, create, RawClient, read, request, setData } from "@zooid/wire/testing/raw-client";
import { describe, expect, test } from "vitest";
import { startTestServer } from "../testing/server.ts";

/** A session and what resumes it. */
async function openSession(port: number, timeoutMs = 30_000) {
  const client = await RawClient.open(port);
  const { sessionId, password } = await client.handshake({ timeoutMs });
  const secret = Uint8Array.from(password.bytes.subarray(password.start, password.end));
  return { client, resume: { sessionId, password: secret, timeoutMs } };
}

const EXPIRED = { timeoutMs: 0, sessionId: SESSION_NONE };

describe("the connect request", () => {
  test.each([
    ["with the read-only byte", true, 37],
    ["without it", false, 36],
  ])("%s is answered in the same form", async (_, readOnlyByte, length) => {
    await using zk = await startTestServer();
    await using client = await RawClient.open(zk.port);
    client.send(connectRequest({ readOnlyByte }));
    expect(await client.frame()).toHaveLength(length);
  });

  test.each([
    ["null", null],
    ["empty", new Uint8Array(0)],
    ["15 bytes", new Uint8Array(15)],
    ["17 bytes", new Uint8Array(17)],
    ["900 bytes", new Uint8Array(900)],
  ])("asks for a new session whatever its password: %s", async (_, password) => {
    await using zk = await startTestServer();
    await using client = await RawClient.open(zk.port);
    const answer = await client.handshake({ password });
    expect(answer.sessionId).not.toBe(SESSION_NONE);
    expect(answer.password.end - answer.password.start).toBe(16);
  });

  test("with a password of a mebibyte closes the connection", async () => {
    await using zk = await startTestServer();
    await using client = await RawClient.open(zk.port);
    client.send(connectRequest({ password: new Uint8Array(1024 * 1024) }));
    expect(await client.rest()).toHaveLength(0);
    expect(zk.lines).toHaveLength(1);
  });

  test.each([
    [1, 400],
    [0, 400],
    [-1, 400],
    [-(2 ** 31), 400],
    [1234, 1234],
    [2 ** 31 - 1, 4000],
  ])("a timeout of %i becomes %i", async (asked, given) => {
    await using zk = await startTestServer({ tickMs: 200 });
    await using client = await RawClient.open(zk.port);
    expect(await client.handshake({ timeoutMs: asked })).toMatchObject({ timeoutMs: given });
  });

  test("of a client that has seen a later zxid is closed without an answer, and its session lives on", async () => {
    await using zk = await startTestServer();
    const { client, resume } = await openSession(zk.port);
    await using _ = client;
    await using early = await RawClient.open(zk.port);
    early.send(connectRequest({ ...resume, lastZxidSeen: 2 ** 40 }));
    expect(await early.rest()).toHaveLength(0);
    expect(await client.ask(OpCode.EXISTS, read("/"))).toMatchObject({ code: 0 });
  });
});

describe("resuming", () => {
  test("moves the session to the new connection and closes the old one", async () => {
    await using zk = await startTestServer();
    const { client: old, resume } = await openSession(zk.port);
    await old.ask(OpCode.CREATE, create("/mine", "", 1));
    await using client = await RawClient.open(zk.port);
    expect(await client.handshake(resume)).toMatchObject({ sessionId: resume.sessionId, timeoutMs: 30_000 });
    expect(await old.rest()).toHaveLength(0);
    expect(await client.ask(OpCode.EXISTS, read("/mine"))).toMatchObject({ code: 0 });
  });

  test("negotiates the timeout again", async () => {
    await using zk = await startTestServer();
    const { client: old, resume } = await openSession(zk.port);
    await using _ = old;
    await using client = await RawClient.open(zk.port);
    expect(await client.handshake({ ...resume, timeoutMs: 5000 })).toMatchObject({ timeoutMs: 5000 });
  });

  test.each([
    ["a wrong password", (right: Uint8Array) => right.map((byte) => byte ^ 1)],
    ["15 of the password's bytes", (right: Uint8Array) => right.subarray(0, 15)],
    ["the password and one byte more", (right: Uint8Array) => Uint8Array.of(...right, 0)],
    ["no password", () => null],
    ["zeros", () => new Uint8Array(16)],
  ])("with %s is answered as expired, and leaves the session's connection alone", async (_, wrong) => {
    await using zk = await startTestServer();
    const { client, resume } = await openSession(zk.port);
    await using _client = client;
    await using thief = await RawClient.open(zk.port);
    const answer = await thief.handshake({ ...resume, password: wrong(resume.password) });
    expect(answer).toMatchObject(EXPIRED);
    expect(answer.password.bytes.subarray(answer.password.start, answer.password.end)).toEqual(Buffer.alloc(16));
    expect(await thief.rest()).toHaveLength(0);
    expect(await client.ask(OpCode.EXISTS, read("/"))).toMatchObject({ code: 0 });
  });

  test.each([1n, -1n, 2n ** 63n - 1n, -(2n ** 63n)])(
    "session %i, which never was, is answered as expired",
    async (id) => {
      await using zk = await startTestServer();
      await using client = await RawClient.open(zk.port);
      expect(await client.handshake({ sessionId: id as SessionId })).toMatchObject(EXPIRED);
      expect(await client.rest()).toHaveLength(0);
    },
  );

  test("ids next to a known one are answered as expired", async () => {
    await using zk = await startTestServer();
    const { client, resume } = await openSession(zk.port);
    await using _ = client;
    for (const step of [-2n, -1n, 1n, 2n, 4096n]) {
      await using guess = await RawClient.open(zk.port);
      const sessionId = (resume.sessionId + step) as SessionId;
      expect(await guess.handshake({ ...resume, sessionId })).toMatchObject(EXPIRED);
    }
  });

  test("a session that its client closed is answered as expired", async () => {
    await using zk = await startTestServer();
    const { client, resume } = await openSession(zk.port);
    expect(await client.ask(OpCode.CLOSE_SESSION)).toMatchObject({ xid: 1, code: 0 });
    expect(await client.rest()).toHaveLength(0);
    await using late = await RawClient.open(zk.port);
    expect(await late.handshake(resume)).toMatchObject(EXPIRED);
  });
});

describe("the end of a session", () => {
  const short = { tickMs: 20, sessionTimeoutMsMin: 40, sessionTimeoutMsMax: 60_000 };

  test("comes when the client is silent: its connection is closed and its ephemerals are deleted", async () => {
    await using zk = await startTestServer(short);
    await using bystander = await RawClient.withSession(zk.port);
    const { client, resume } = await openSession(zk.port, 100);
    await client.ask(OpCode.CREATE, create("/mine", "", 1));
    await bystander.ask(OpCode.EXISTS, read("/mine", true));
    expect(await client.rest()).toHaveLength(0);
    const event = await bystander.reply();
    expect([event.xid, event.body.int()]).toEqual([-1, 2]);
    await using late = await RawClient.open(zk.port);
    expect(await late.handshake(resume)).toMatchObject(EXPIRED);
  });

  test("comes for one session after another, each in its own time", async () => {
    await using zk = await startTestServer(short);
    await using _longest = await RawClient.withSession(zk.port, { timeoutMs: 60_000 });
    const clients = await Promise.all([50, 350, 650].map((timeoutMs) => RawClient.withSession(zk.port, { timeoutMs })));
    const order: number[] = [];
    await Promise.all(clients.map((client, i) => client.rest().then(() => order.push(i))));
    expect(order).toEqual([0, 1, 2]);
  });

  test("does not come while its client pings", async () => {
    await using zk = await startTestServer(short);
    await using client = await RawClient.withSession(zk.port, { timeoutMs: 500 });
    await using silent = await RawClient.withSession(zk.port, { timeoutMs: 1000 });
    while (!silent.isClosed) expect(await client.ask(OpCode.PING)).toMatchObject({ xid: -2 });
    expect(await client.ask(OpCode.EXISTS, read("/"))).toMatchObject({ code: 0 });
  });

  test("drops what was sent behind it", async () => {
    await using zk = await startTestServer();
    await using bystander = await RawClient.withSession(zk.port);
    await using client = await RawClient.withSession(zk.port);
    client.send(request(1, OpCode.CLOSE_SESSION), request(2, OpCode.CREATE, create("/late")));
    expect(await client.reply()).toMatchObject({ xid: 1, code: 0 });
    expect(await client.rest()).toHaveLength(0);
    expect(await bystander.ask(OpCode.EXISTS, read("/late"))).toMatchObject({ code: -101 });
  });
});

describe("order", () => {
  test("the event of an own write comes before its answer", async () => {
    await using zk = await startTestServer();
    await using client = await RawClient.withSession(zk.port);
    await client.ask(OpCode.EXISTS, read("/a", true));
    client.send(request(7, OpCode.CREATE, create("/a")));
    const [event, answer] = [await client.reply(), await client.reply()];
    expect([event.xid, event.zxid, answer.xid]).toEqual([-1, answer.zxid, 7]);
    expect([event.body.int(), event.body.int(), event.body.text()]).toEqual([1, 3, "/a"]);
  });

  test("an answer never shows more than the events before it", async () => {
    await using zk = await startTestServer();
    await using writer = await RawClient.withSession(zk.port);
    await using watcher = await RawClient.withSession(zk.port);
    await writer.ask(OpCode.CREATE, create("/a", "0"));
    for (let round = 1; round <= 50; round++) {
      const armed = await watcher.ask(OpCode.GET_DATA, read("/a", true));
      writer.send(request(round, OpCode.SET_DATA, setData("/a", String(round))));
      watcher.send(...Array.from({ length: 20 }, (_, i) => request(i, OpCode.GET_DATA, read("/a"))));
      let hasEvent = false;
      for (let answers = 0; answers < 20 || !hasEvent; ) {
        const reply = await watcher.reply();
        if (reply.xid === -1) hasEvent = true;
        else {
          answers++;
          if (reply.zxid > armed.zxid) expect(hasEvent).toBe(true);
        }
      }
      await writer.reply();
    }
  });

  test("pipelined requests of every kind are answered in the order in which they were sent", async () => {
    await using zk = await startTestServer();
    await using client = await RawClient.withSession(zk.port);
    const kinds = [
      (xid: number) => request(xid, OpCode.SET_DATA, setData("/", String(xid))),
      (xid: number) => request(xid, OpCode.GET_DATA, read("/")),
      (xid: number) => request(xid, OpCode.CREATE, create("/")),
      (xid: number) =>
        request(xid, OpCode.AUTH, (writer) => {
          writer.int(0);
          writer.text("digest");
          writer.text("a:b");
        }),
      (xid: number) => request(xid, OpCode.SYNC, (writer) => writer.text("/")),
    ];
    const sent = Array.from({ length: 500 }, (_, i) => kinds[(i * 7) % kinds.length]?.(i) ?? Buffer.alloc(0));
    client.send(...sent);
    for (let i = 0; i < sent.length; i++) expect((await client.reply()).xid).toBe(i);
  });

  test("xids are echoed whatever they are: repeated, going back, negative", async () => {
    await using zk = await startTestServer();
    await using client = await RawClient.withSession(zk.port);
    const xids = [5, 5, 3, 0, -1, -2, -4, -8, 2 ** 31 - 1, -(2 ** 31)];
    client.send(...xids.map((xid) => request(xid, OpCode.EXISTS, read("/"))));
    for (const xid of xids) expect(await client.reply()).toMatchObject({ xid, code: 0 });
  });

  test("a later read sees the write that was pipelined before it", async () => {
    await using zk = await startTestServer();
    await using client = await RawClient.withSession(zk.port);
    client.send(request(1, OpCode.SET_DATA, setData("/", "new")), request(2, OpCode.GET_DATA, read("/")));
    await client.reply();
    expect((await client.reply()).body.text()).toBe("new");
  });
});

test("setWatches sends the missed events before its answer, and arms the other watches again", async () => {
  await using zk = await startTestServer();
  await using writer = await RawClient.withSession(zk.port);
  await writer.ask(OpCode.CREATE, create("/changed"));
  const kept = await writer.ask(OpCode.CREATE, create("/kept"));
  await writer.ask(OpCode.SET_DATA, setData("/changed", "x"));
  await writer.ask(OpCode.CREATE, create("/appeared"));
  await using client = await RawClient.withSession(zk.port);
  client.send(
    request(-8, OpCode.SET_WATCHES, (body) => {
      body.zxid(kept.zxid);
      for (const list of [["/changed", "/gone", "/kept"], ["/appeared", "/absent"], ["/kept"]]) {
        body.int(list.length);
        for (const path of list) body.text(path);
      }
    }),
  );
  const events: [number, string | null][] = [];
  for (;;) {
    const reply = await client.reply();
    if (reply.xid === -8) break;
    const type = reply.body.int();
    reply.body.int();
    events.push([type, reply.body.text()]);
    expect(reply.zxid).toBe(-1);
  }
  expect(events).toEqual([
    [3, "/changed"],
    [2, "/gone"],
    [1, "/appeared"],
  ]);
  await writer.ask(OpCode.CREATE, create("/absent"));
  await writer.ask(OpCode.SET_DATA, setData("/kept", "x"));
  expect((await client.reply()).body.int()).toBe(1);
  expect((await client.reply()).body.int()).toBe(3);
});

test("a session id and password are not those of another session", async () => {
  await using zk = await startTestServer({ connectionsPerAddressMax: 0 });
  const ids = new Set<SessionId>();
  const passwords = new Set<string>();
  for (let i = 0; i < 50; i++) {
    await using client = await RawClient.open(zk.port);
    const { sessionId, password } = await client.handshake();
    ids.add(sessionId);
    passwords.add(sliceText(password));
  }
  expect([ids.size, passwords.size]).toEqual([50, 50]);
});
