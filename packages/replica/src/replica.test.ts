import { OpCode, SESSION_NONE, type SessionId, WireError, type Zxid } from "@zooid/model";
import { type JuteWriter, RequestReader } from "@zooid/wire";
import { describe, expect, test } from "vitest";
import { TestReplica } from "./testing/replica.ts";
import { create, createTtl, multi, onNoPath, read, setAcl, setData, versioned } from "./testing/requests.ts";

test.each([
  ["a null path", OpCode.DELETE, onNoPath(-1)],
  ["an operation that cannot stand there", OpCode.DELETE_CONTAINER, read("/c")],
  ["flags that belong to another operation", OpCode.CREATE, create("/t", "", 5)],
  ["half a part", OpCode.CREATE_TTL, create("/t", "", 5)],
] as const)("a multi with %s is unreadable as a whole, and nothing of it is done", (_, op, body) => {
  const zk = new TestReplica({ isTtlEnabled: true });
  const ref = zk.open();
  expect(zk.ask(ref, OpCode.MULTI, multi([OpCode.CREATE, create("/a")], [op, body]))).toBe("MARSHALLING_ERROR");
  expect(zk.ask(ref, OpCode.EXISTS, read("/a"))).toBe("NO_NODE");
});

test("a change of the ensemble is refused, as Apache does with reconfig disabled", () => {
  const zk = new TestReplica();
  const ref = zk.open();
  const before = zk.replica.visibleZxid;
  const reconfig = (writer: JuteWriter): void => {
    writer.text("server.2=there:1:2");
    writer.null();
    writer.null();
    writer.zxid(-1);
  };
  expect(zk.ask(ref, OpCode.RECONFIG, reconfig)).toBe("RECONFIG_DISABLED");
  expect(zk.replica.visibleZxid).toBe(before + 1);
  expect(zk.ask(ref, OpCode.RECONFIG, read("/"))).toBe("MARSHALLING_ERROR");
});

test("a multi creates containers and TTL nodes, by their operations and by the flags of a create", () => {
  const zk = new TestReplica({ isTtlEnabled: true });
  const ref = zk.open();
  const parts = multi(
    [OpCode.CREATE, create("/by-flag", "", 4)],
    [OpCode.CREATE_CONTAINER, create("/container", "", 4)],
    [OpCode.CREATE_TTL, createTtl("/ttl", 1000)],
    [OpCode.CREATE_TTL, createTtl("/plain", 1000, 0)],
    [OpCode.CREATE_TTL, createTtl("/ttl-by-flag", 1000, 4)],
  );
  const made = ["/by-flag", "/container", "/ttl", "/plain", "/ttl-by-flag"].map((path) => `path ${path}`);
  expect(zk.ask(ref, OpCode.MULTI, parts)).toBe(`[${made.join(", ")}]`);
  expect(zk.replica.tree.reapableCount).toBe(4);
});

describe("order", () => {
  test("a write is not answered, and fires no watch, before it is durable", () => {
    const zk = new TestReplica();
    const [writer, other] = [zk.open(), zk.open()];
    zk.send(writer, 1, OpCode.CREATE, create("/a", "x"));
    zk.replica.propose();
    zk.replica.deliver(10);
    zk.send(other, 2, OpCode.EXISTS, read("/a"));
    expect([zk.take(writer), zk.take(other)]).toEqual([[], ["2 NO_NODE"]]);
    zk.sync();
    zk.replica.deliver(10);
    expect(zk.take(writer)).toEqual(["1 path /a"]);
  });

  test("requests behind a write of their connection wait for it, and are answered in order", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 1, OpCode.CREATE, create("/a", "1"));
    zk.send(ref, 2, OpCode.GET_DATA, read("/a"));
    zk.send(ref, -2, OpCode.PING);
    zk.send(ref, 4, OpCode.SET_DATA, setData("/a", "2", 0));
    zk.send(ref, 5, OpCode.GET_DATA, read("/a"));
    zk.send(ref, 6, OpCode.SYNC, read("/a"));
    zk.send(ref, 7, OpCode.CREATE, (writer) => writer.int(-2));
    zk.send(ref, 8, OpCode.DELETE, versioned("/a", 7));
    expect(zk.take(ref)).toEqual([]);
    zk.turn();
    expect(zk.take(ref)).toEqual([
      "1 path /a",
      "2 data 1",
      "-2 ok",
      "4 stat",
      "5 data 2",
      "6 path /a",
      "7 MARSHALLING_ERROR",
      "8 BAD_VERSION",
    ]);
  });

  test("a sync waits for the writes before it of all other connections, also of its session's previous one", () => {
    const zk = new TestReplica();
    const [other, writer] = [zk.open(), zk.open()];
    zk.send(writer, 1, OpCode.CREATE, create("/a"));
    const moved = zk.connect({ session: zk.session, password: zk.password });
    zk.take(moved);
    for (const ref of [other, moved]) {
      zk.send(ref, 1, OpCode.SYNC, read("/a"));
      zk.send(ref, 2, OpCode.EXISTS, read("/a"));
    }
    expect([zk.take(other), zk.take(moved)]).toEqual([[], []]);
    zk.turn();
    expect([zk.take(other), zk.take(moved)]).toEqual([
      ["1 path /a", "2 stat"],
      ["1 path /a", "2 stat"],
    ]);
    expect(zk.ask(other, OpCode.SYNC, read("/a"))).toBe("path /a");
  });

  test("an auth packet counts at once for what follows, and its answer keeps its place", () => {
    const zk = new TestReplica();
    const [owner, ref] = [zk.open(), zk.open()];
    zk.authenticate(owner, "alice:a");
    zk.ask(owner, OpCode.CREATE, create("/a", "", 0, [{ perms: 31, scheme: "auth", id: "" }]));
    zk.send(ref, 1, OpCode.SET_DATA, setData("/a", "before"));
    zk.send(ref, -4, OpCode.AUTH, (writer) => {
      writer.int(0);
      writer.text("digest");
      writer.text("alice:a");
    });
    zk.send(ref, 3, OpCode.SET_DATA, setData("/a", "after"));
    expect(zk.take(ref)).toEqual([]);
    zk.turn();
    expect(zk.take(ref)).toEqual(["1 NO_AUTH", "-4 ok", "3 stat"]);
  });

  test("an event of a client's own write comes before its answer, of a multi before the answers to its parts", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.ask(ref, OpCode.EXISTS, read("/a", true));
    zk.ask(ref, OpCode.GET_CHILDREN, read("/", true));
    zk.send(ref, 5, OpCode.MULTI, multi([OpCode.CREATE, create("/a")], [OpCode.SET_DATA, setData("/a", "x")]));
    zk.turn();
    expect(zk.take(ref)).toEqual(["event 1 /a", "event 4 /", "5 [path /a, stat]"]);
  });

  test("a refused multi has one error in the part that failed, and changes nothing for later requests", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 1, OpCode.MULTI, multi([OpCode.CREATE, create("/s-", "", 2)], [OpCode.DELETE, versioned("/none")]));
    zk.send(ref, 2, OpCode.CREATE, create("/s-", "", 2));
    zk.turn();
    expect(zk.take(ref)).toEqual(["1 [ok, NO_NODE]", "2 path /s-0000000000"]);
  });

  test("every write gets a zxid, also a refused one", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    const before = zk.replica.visibleZxid;
    zk.ask(ref, OpCode.DELETE, versioned("/none"));
    zk.ask(ref, OpCode.CREATE, create("/a"));
    zk.ask(ref, OpCode.GET_DATA, read("/a"));
    expect(zk.replica.visibleZxid - before).toBe(2);
  });
});

describe("sessions", () => {
  test("are answered when they are durable; requests sent with the connect request wait", () => {
    const zk = new TestReplica();
    const ref = zk.connect({ timeoutMs: 1 });
    expect(zk.send(ref, 1, OpCode.PING)).toBe(false);
    expect(zk.take(ref)).toEqual([]);
    zk.turn();
    expect(zk.take(ref)).toEqual(["connected 200"]);
    expect(zk.resumed).toEqual([ref]);
  });

  test("move to the newest connection that knows the password; the older one is closed", () => {
    const zk = new TestReplica();
    const old = zk.open();
    const { session, password } = zk;
    zk.send(old, 1, OpCode.CREATE, create("/a"));
    const ref = zk.connect({ session, password, timeoutMs: 5000 });
    expect([zk.take(old), zk.take(ref)]).toEqual([["close"], ["connected 5000"]]);
    expect(zk.send(old, 2, OpCode.PING)).toBe(false);
    zk.turn();
    expect(zk.ask(ref, OpCode.EXISTS, read("/a"))).toBe("stat");
  });

  test("stay with their connection when another one connects with a wrong password", () => {
    const zk = new TestReplica();
    const old = zk.open();
    const thief = zk.connect({ session: zk.session, password: new Uint8Array(16) });
    expect(zk.take(thief)).toEqual(["expired", "close"]);
    expect(zk.ask(old, OpCode.PING)).toMatch(/ok/);
    const stranger = zk.connect({ session: 99n as SessionId });
    expect(zk.take(stranger)).toEqual(["expired", "close"]);
    expect(zk.session).toBe(SESSION_NONE);
  });

  test("survive a client that has seen a later zxid: its connection is closed without an answer", () => {
    const zk = new TestReplica();
    zk.open();
    const { session, password } = zk;
    const early = zk.connect({ session, password, lastZxidSeen: (2 ** 50) as Zxid });
    expect(zk.take(early)).toEqual(["close"]);
    expect(zk.take(zk.connect({ session, password }))).toEqual(["connected 10000"]);
  });

  test("expire without touches, with their ephemerals; touched ones live on", () => {
    const zk = new TestReplica();
    const silent = zk.open("127.0.0.1", 1000);
    zk.ask(silent, OpCode.CREATE, create("/mine", "", 1));
    const lively = zk.open("127.0.0.1", 1000);
    zk.ask(lively, OpCode.EXISTS, read("/mine", true));
    zk.advance(900);
    zk.send(lively, 2, OpCode.PING);
    zk.take(lively);
    zk.advance(300);
    zk.replica.expireSessions();
    zk.turn();
    expect([zk.take(silent), zk.take(lively)]).toEqual([["close"], ["event 2 /mine"]]);
    expect(zk.replica.counters.expiredSessions).toBe(1);
  });

  test("are closed by their client: answered, then closed; what is sent behind is dropped", () => {
    const zk = new TestReplica();
    const [ref, other] = [zk.open(), zk.open()];
    zk.ask(ref, OpCode.CREATE, create("/mine", "", 1));
    zk.send(ref, 8, OpCode.CLOSE_SESSION);
    zk.send(ref, 9, OpCode.CREATE, create("/late"));
    zk.turn();
    expect(zk.take(ref)).toEqual(["8 ok", "close"]);
    expect(zk.ask(other, OpCode.GET_CHILDREN, read("/"))).toBe("children zookeeper");
  });

  test("live on when their connection is lost, while its writes are in flight", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    const { session, password } = zk;
    zk.send(ref, 1, OpCode.CREATE, create("/a", "", 1));
    zk.replica.disconnect(ref);
    const next = zk.open();
    expect(next).not.toBe(ref);
    const back = zk.connect({ session, password });
    expect(zk.ask(back, OpCode.EXISTS, read("/a"))).toBe("connected 10000; 1 stat");
    expect(back).toBe(ref);
  });
});

describe("flow", () => {
  test("a connection with too many requests in flight is read no further until they are answered", () => {
    const zk = new TestReplica({ inFlightCountMax: 3 });
    const [ref, other] = [zk.open(), zk.open()];
    zk.resumed.length = 0;
    expect(zk.send(ref, 1, OpCode.SET_DATA, setData("/", "x"))).toBe(true);
    expect(zk.send(ref, 2, OpCode.EXISTS, read("/"))).toBe(true);
    expect(zk.send(ref, 3, OpCode.EXISTS, read("/"))).toBe(false);
    expect(zk.send(other, 1, OpCode.EXISTS, read("/"))).toBe(true);
    zk.turn();
    expect(zk.resumed).toEqual([ref]);
    expect(zk.take(ref)).toHaveLength(3);
  });

  test("a connection with too large waiting requests is read no further until they are answered", () => {
    const zk = new TestReplica({ inFlightBytesMax: 1000 });
    const ref = zk.open();
    zk.resumed.length = 0;
    expect(zk.send(ref, 1, OpCode.SET_DATA, setData("/", "x".repeat(5000)))).toBe(true);
    expect(zk.send(ref, 2, OpCode.EXISTS, read(`/${"n".repeat(1000)}`))).toBe(false);
    zk.turn();
    expect(zk.resumed).toEqual([ref]);
  });

  test.each([
    ["before they are proposed", false],
    ["once they are proposed", true],
  ])("when all connections have too many writes in flight, none is read: %s", (_, isProposed) => {
    const zk = new TestReplica({ outstandingCountMax: 3 });
    const [ref, other] = [zk.open(), zk.open()];
    zk.resumed.length = 0;
    const admitted = [1, 2, 3].map((xid) => zk.send(ref, xid, OpCode.SET_DATA, setData("/", "x")));
    expect(admitted).toEqual([true, true, false]);
    if (isProposed) zk.replica.propose();
    expect(zk.send(other, 1, OpCode.EXISTS, read("/"))).toBe(false);
    zk.turn();
    expect(new Set(zk.resumed)).toEqual(new Set([ref, other]));
    expect([zk.take(ref).length, zk.take(other)]).toEqual([3, ["1 stat"]]);
  });

  test("a long run of commits is delivered in pieces", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    for (let i = 0; i < 25; i++) zk.send(ref, i, OpCode.CREATE, create(`/n${i}`));
    zk.replica.propose();
    zk.sync();
    expect([zk.replica.deliver(10), zk.take(ref).length]).toEqual([true, 10]);
    expect([zk.replica.deliver(10), zk.take(ref).length]).toEqual([true, 10]);
    expect([zk.replica.deliver(10), zk.take(ref).length]).toEqual([false, 5]);
  });
});

describe("a malformed or forbidden request", () => {
  test("with a body that the decoder refuses is answered; another error of the decoder is a defect", () => {
    const thrown: Error[] = [];
    const requests = new (class extends RequestReader {
      override body(): void {
        throw thrown[0];
      }
    })();
    const zk = new TestReplica({}, { requests });
    const client = zk.open();
    thrown[0] = new WireError("TRUNCATED", "the path reaches past the end");
    expect(zk.ask(client, OpCode.EXISTS, read("/a"))).toBe("MARSHALLING_ERROR");
    thrown[0] = Object.assign(new Error("a defect"), { name: "WireError" });
    expect(() => zk.ask(client, OpCode.EXISTS, read("/a"))).toThrow("a defect");
  });

  test.each([
    ["an operation that is not served", OpCode.DELETE_CONTAINER, "UNIMPLEMENTED", "unknown-operation"],
    ["an operation of servers", OpCode.CREATE_SESSION, "UNIMPLEMENTED", "unknown-operation"],
    ["authentication of no known scheme", OpCode.AUTH, "AUTH_FAILED", "authentication"],
  ])("%s is answered and reported, and closes the connection", (_, op, code, refusal) => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 5, op, (writer) => writer.int(0));
    expect(zk.take(ref)).toEqual([`5 ${code}`, "close"]);
    expect(zk.refusals).toEqual([refusal]);
  });

  test("behind a refused auth packet is not carried out, also when the refusal waits for a write", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 1, OpCode.CREATE, create("/a"));
    expect(zk.send(ref, 2, OpCode.AUTH, () => {})).toBe(false);
    zk.turn();
    expect(zk.take(ref)).toEqual(["1 path /a", "2 AUTH_FAILED", "close"]);
  });

  test("that sets the access list of another client's node changes nothing", () => {
    const zk = new TestReplica();
    const [ref, other] = [zk.open(), zk.open()];
    zk.ask(ref, OpCode.CREATE, create("/a", "", 0, [{ perms: 1, scheme: "world", id: "anyone" }]));
    expect(zk.ask(other, OpCode.SET_ACL, setAcl("/a", [{ perms: 31, scheme: "world", id: "anyone" }]))).toBe("NO_AUTH");
  });
});
