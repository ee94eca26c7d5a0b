import { type ConnectionRef, OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, multi, onNoPath, onPath, read, setData, versioned, watchOn } from "../testing/requests.ts";

const PERSISTENT = 0;
const RECURSIVE = 1;
const ANY = 3;
const NO_RIGHTS = [{ perms: 0, scheme: "world", id: "anyone" }];

/** A replica with two connections. */
function start(): { readonly zk: TestReplica; readonly ref: ConnectionRef; readonly other: ConnectionRef } {
  const zk = new TestReplica();
  return { zk, ref: zk.open(), other: zk.open() };
}

describe("addWatch", () => {
  test("arms a watch that stays, with events of the node and its children, before the answer to a write of its client", () => {
    const { zk, ref } = start();
    expect(zk.ask(ref, OpCode.ADD_WATCH, watchOn("/a", PERSISTENT))).toBe("integer 0");
    expect(zk.ask(ref, OpCode.CREATE, create("/a"))).toBe("event 1 /a; 1 path /a");
    expect(zk.ask(ref, OpCode.SET_DATA, setData("/a", "1"))).toBe("event 3 /a; 1 stat");
    expect(zk.ask(ref, OpCode.CREATE, create("/a/b"))).toBe("event 4 /a; 1 path /a/b");
    expect(zk.ask(ref, OpCode.SET_DATA, setData("/a/b", "1"))).toBe("stat");
    expect(zk.ask(ref, OpCode.DELETE, versioned("/a/b"))).toBe("event 4 /a; 1 ok");
    expect(zk.ask(ref, OpCode.DELETE, versioned("/a"))).toBe("event 2 /a; 1 ok");
    expect(zk.ask(ref, OpCode.CREATE, create("/a"))).toBe("event 1 /a; 1 path /a");
  });

  test.each(["/".padEnd(20_000, "n"), "/n".repeat(2000)])(
    "of a path that no node can have is answered, as other watches of it are, and not held",
    (path) => {
      const { zk, ref } = start();
      expect(zk.ask(ref, OpCode.ADD_WATCH, watchOn(path, PERSISTENT))).toBe("integer 0");
      expect(zk.ask(ref, OpCode.ADD_WATCH, watchOn(path, RECURSIVE))).toBe("integer 0");
      expect(zk.ask(ref, OpCode.EXISTS, read(path, true))).toBe("NO_NODE");
      expect(zk.replica.watches.watchCount).toBe(0);
      expect(zk.ask(ref, OpCode.CHECK_WATCHES, watchOn(path, 1))).toBe("NO_WATCHER");
    },
  );

  test("recursively sends the events of all nodes below, each with the node's path", () => {
    const { zk, ref, other } = start();
    expect(zk.ask(ref, OpCode.ADD_WATCH, watchOn("/", RECURSIVE))).toBe("integer 0");
    const deep = multi(
      [OpCode.CREATE, create("/a")],
      [OpCode.CREATE, create("/a/b")],
      [OpCode.SET_DATA, setData("/a/b", "1")],
      [OpCode.DELETE, versioned("/a/b")],
    );
    zk.ask(other, OpCode.MULTI, deep);
    expect(zk.take(ref)).toEqual(["event 1 /a", "event 1 /a/b", "event 3 /a/b", "event 2 /a/b"]);
  });

  test("leaves the modes that are armed, and one event serves them all", () => {
    const { zk, ref, other } = start();
    zk.ask(ref, OpCode.EXISTS, read("/a", true));
    for (const mode of [PERSISTENT, RECURSIVE]) zk.ask(ref, OpCode.ADD_WATCH, watchOn("/a", mode));
    zk.ask(other, OpCode.CREATE, create("/a"));
    expect(zk.take(ref)).toEqual(["event 1 /a"]);
    zk.ask(other, OpCode.CREATE, create("/a/b"));
    expect(zk.take(ref)).toEqual(["event 1 /a/b", "event 4 /a"]);
  });

  test("needs no permission, but events go only to clients that may read the node", () => {
    const { zk, ref, other } = start();
    zk.ask(other, OpCode.CREATE, create("/a"));
    zk.ask(other, OpCode.CREATE, create("/a/hidden", "", 0, NO_RIGHTS));
    for (const path of ["/a/hidden", "/a"]) {
      expect(zk.ask(ref, OpCode.ADD_WATCH, watchOn(path, RECURSIVE))).toBe("integer 0");
    }
    zk.ask(other, OpCode.DELETE, versioned("/a/hidden"));
    zk.ask(other, OpCode.CREATE, create("/a/hidden"));
    expect(zk.take(ref)).toEqual(["event 1 /a/hidden"]);
  });

  test.each(["", "x", "//", "/a/"])("takes %j, where nothing ever happens", (path) => {
    const { zk, ref } = start();
    expect(zk.ask(ref, OpCode.ADD_WATCH, watchOn(path, RECURSIVE))).toBe("integer 0");
    expect(zk.ask(ref, OpCode.CREATE, create("/a"))).toBe("path /a");
    expect(zk.ask(ref, OpCode.CREATE, create("/a/b"))).toBe("path /a/b");
    expect(zk.ask(ref, OpCode.SET_DATA, setData("/", "x"))).toBe("stat");
  });

  test("accepts null as a path, which is not the empty path, and its watch can be found and removed", () => {
    const { zk, ref } = start();
    expect(zk.ask(ref, OpCode.ADD_WATCH, watchOn("", PERSISTENT))).toBe("integer 0");
    expect(zk.ask(ref, OpCode.CHECK_WATCHES, onNoPath(ANY))).toBe("NO_WATCHER");
    expect(zk.ask(ref, OpCode.ADD_WATCH, onNoPath(PERSISTENT))).toBe("integer 0");
    expect(zk.ask(ref, OpCode.CHECK_WATCHES, onNoPath(ANY))).toBe("ok");
    expect(zk.ask(ref, OpCode.REMOVE_WATCHES, onNoPath(ANY))).toBe("ok");
    expect(zk.ask(ref, OpCode.REMOVE_WATCHES, onNoPath(ANY))).toBe("NO_WATCHER");
  });

  test.each([2, 3, -1])("of mode %j is refused and arms nothing", (mode) => {
    const { zk, ref } = start();
    expect(zk.ask(ref, OpCode.ADD_WATCH, watchOn("/a", mode))).toBe("MARSHALLING_ERROR");
    expect(zk.replica.watches.isEmpty).toBe(true);
  });

  test.each([PERSISTENT, RECURSIVE])("of mode %j on more paths than a connection may watch ends it", (mode) => {
    const zk = new TestReplica({ watchCountMax: 2 });
    const ref = zk.open();
    for (const path of ["/a", "/b", "/a"]) {
      expect(zk.ask(ref, OpCode.ADD_WATCH, watchOn(path, mode))).toBe("integer 0");
    }
    expect(zk.ask(ref, OpCode.ADD_WATCH, watchOn("/c", mode))).toBe("integer 0; close");
    expect(zk.refusals).toEqual(["watch-limit"]);
    expect(zk.replica.watches.isEmpty).toBe(true);
  });

  test("waits for a write of its connection before it, and sends no event of that", () => {
    const { zk, ref } = start();
    zk.send(ref, 1, OpCode.CREATE, create("/a"));
    zk.send(ref, 2, OpCode.ADD_WATCH, watchOn("/a", PERSISTENT));
    zk.send(ref, 3, OpCode.SET_DATA, setData("/a", "1"));
    zk.turn();
    expect(zk.take(ref)).toEqual(["1 path /a", "2 integer 0", "event 3 /a", "3 stat"]);
  });
});

describe("checkWatches and removeWatches", () => {
  const arms: readonly (readonly [
    name: string,
    op: number,
    body: ReturnType<typeof read>,
    found: readonly number[],
  ])[] = [
    ["a data watch", OpCode.GET_DATA, read("/a", true), [2, 3]],
    ["a child watch", OpCode.GET_CHILDREN, read("/a", true), [1, 3]],
    ["a persistent watch", OpCode.ADD_WATCH, watchOn("/a", PERSISTENT), [3, 4]],
    ["a recursive watch", OpCode.ADD_WATCH, watchOn("/a", RECURSIVE), [3, 5]],
  ];

  test.each(arms)("%s is found by its own types alone, and only removing takes it away", (_, op, body, found) => {
    const { zk, ref } = start();
    zk.ask(ref, OpCode.CREATE, create("/a"));
    for (const type of [1, 2, 3, 4, 5]) {
      zk.ask(ref, op, body);
      const [answer, left] = found.includes(type) ? ["ok", "NO_WATCHER"] : ["NO_WATCHER", "ok"];
      expect([type, zk.ask(ref, OpCode.CHECK_WATCHES, watchOn("/a", type))]).toEqual([type, answer]);
      expect([type, zk.ask(ref, OpCode.CHECK_WATCHES, watchOn("/a", ANY))]).toEqual([type, "ok"]);
      expect([type, zk.ask(ref, OpCode.REMOVE_WATCHES, watchOn("/a", type))]).toEqual([type, answer]);
      expect([type, zk.ask(ref, OpCode.CHECK_WATCHES, watchOn("/a", ANY))]).toEqual([type, left]);
    }
  });

  test("of a persistent watch leave other watches on the path", () => {
    const { zk, ref } = start();
    zk.ask(ref, OpCode.CREATE, create("/a"));
    for (const [, op, body] of arms) zk.ask(ref, op, body);
    zk.ask(ref, OpCode.REMOVE_WATCHES, watchOn("/a", 4));
    expect([1, 2, 4, 5].map((type) => zk.ask(ref, OpCode.CHECK_WATCHES, watchOn("/a", type)))).toEqual([
      "ok",
      "ok",
      "NO_WATCHER",
      "ok",
    ]);
    expect(zk.ask(ref, OpCode.CREATE, create("/a/b"))).toBe("event 1 /a/b; event 4 /a; 1 path /a/b");
    expect(zk.ask(ref, OpCode.CREATE, create("/a/c"))).toBe("event 1 /a/c; 1 path /a/c");
  });

  test("know the watches of their own connection only", () => {
    const { zk, ref, other } = start();
    zk.ask(ref, OpCode.ADD_WATCH, watchOn("/a", PERSISTENT));
    for (const op of [OpCode.CHECK_WATCHES, OpCode.REMOVE_WATCHES]) {
      expect(zk.ask(other, op, watchOn("/a", ANY))).toBe("NO_WATCHER");
    }
    expect(zk.ask(ref, OpCode.CHECK_WATCHES, watchOn("/a", ANY))).toBe("ok");
  });

  test.each([0, 6, -1])("of type %j are refused and remove nothing", (type) => {
    const { zk, ref } = start();
    zk.ask(ref, OpCode.ADD_WATCH, watchOn("/a", PERSISTENT));
    for (const op of [OpCode.CHECK_WATCHES, OpCode.REMOVE_WATCHES]) {
      expect(zk.ask(ref, op, watchOn("/a", type))).toBe("MARSHALLING_ERROR");
    }
    expect(zk.ask(ref, OpCode.CHECK_WATCHES, watchOn("/a", ANY))).toBe("ok");
  });
});

describe("getEphemerals", () => {
  const all = "strings /b,/bb,/c/e";
  const { zk, ref, other } = start();
  zk.ask(ref, OpCode.CREATE, create("/c"));
  for (const path of ["/c/e", "/bb"]) zk.ask(ref, OpCode.CREATE, create(path, "", 1));
  zk.ask(ref, OpCode.CREATE, create("/b", "", 1, NO_RIGHTS));
  zk.ask(other, OpCode.CREATE, create("/ba", "", 1));

  test.each(["/", "", " ", " / ", "\u0001", "\t/\n"])(
    "of %j gives all of the session's own, readable or not",
    (prefix) => {
      expect(zk.ask(ref, OpCode.GET_EPHEMERALS, onPath(prefix))).toBe(all);
    },
  );

  test("without a prefix returns all", () => {
    expect(zk.ask(ref, OpCode.GET_EPHEMERALS, onNoPath())).toBe(all);
  });

  test.each([
    ["/b", "strings /b,/bb"],
    ["/bb", "strings /bb"],
    ["/c/", "strings /c/e"],
    ["b", "strings "],
    [" /b", "strings "],
    ["\u00a0", "strings "],
  ])("of %j gives those that begin with this text", (prefix, answer) => {
    expect(zk.ask(ref, OpCode.GET_EPHEMERALS, onPath(prefix))).toBe(answer);
  });

  test("shows the effect of a write of its connection before it", () => {
    const { zk: fresh, ref: client } = start();
    fresh.send(client, 1, OpCode.CREATE, create("/x", "", 1));
    fresh.send(client, 2, OpCode.GET_EPHEMERALS, onPath("/"));
    fresh.send(client, 3, OpCode.DELETE, versioned("/x"));
    fresh.send(client, 4, OpCode.GET_EPHEMERALS, onPath("/"));
    fresh.turn();
    expect(fresh.take(client)).toEqual(["1 path /x", "2 strings /x", "3 ok", "4 strings "]);
  });

  test("is refused to a session whose ephemerals have longer paths than one answer may take", () => {
    const small = new TestReplica({ ephemeralsBytesMax: 4 });
    const client = small.open();
    for (const path of ["/a", "/b"]) small.ask(client, OpCode.CREATE, create(path, "", 1));
    expect(small.ask(client, OpCode.GET_EPHEMERALS, onPath("/"))).toBe("strings /b,/a");
    small.ask(client, OpCode.CREATE, create("/c", "", 1));
    expect(small.ask(client, OpCode.GET_EPHEMERALS, onPath("/"))).toBe("MARSHALLING_ERROR");
    expect(small.ask(client, OpCode.GET_EPHEMERALS, onPath("/c"))).toBe("strings /c");
  });

  test("is refused to a session with more ephemerals than one answer may look at", () => {
    // Each counts 1, and so does the parent's one name.
    const small = new TestReplica({ ephemeralsWorkMax: 3 });
    const client = small.open();
    for (const path of ["/a", "/b"]) small.ask(client, OpCode.CREATE, create(path, "", 1));
    expect(small.ask(client, OpCode.GET_EPHEMERALS, onPath("/b"))).toBe("strings /b");
    small.ask(client, OpCode.CREATE, create("/c", "", 1));
    expect(small.ask(client, OpCode.GET_EPHEMERALS, onPath("/b"))).toBe("MARSHALLING_ERROR");
    expect(small.ask(client, OpCode.EXISTS, read("/b"))).toBe("stat");
  });
});

describe("a listing", () => {
  const zk = new TestReplica({ childrenBytesMax: 16, multiReadBytesMax: 20 });
  const ref = zk.open();
  for (const path of ["/a", "/a/1", "/a/2", "/a/3", "/b", "/b/123456789012", "/c"])
    zk.ask(ref, OpCode.CREATE, create(path));

  test("of the largest size is answered, and longer ones with many or long names are refused", () => {
    expect(zk.ask(ref, OpCode.GET_CHILDREN, read("/a"))).toBe("children 1,2,3");
    expect(zk.ask(ref, OpCode.GET_CHILDREN, read("/b"))).toBe("children 123456789012");
    zk.ask(ref, OpCode.CREATE, create("/a/4"));
    zk.ask(ref, OpCode.CREATE, create("/c/1234567890123"));
    for (const op of [OpCode.GET_CHILDREN, OpCode.GET_CHILDREN2]) {
      expect(zk.ask(ref, op, read("/a", true))).toBe("MARSHALLING_ERROR");
      expect(zk.ask(ref, op, read("/c"))).toBe("MARSHALLING_ERROR");
    }
  });

  test("that was refused has armed no watch", () => {
    expect(zk.ask(ref, OpCode.DELETE, versioned("/a/4"))).toBe("ok");
  });

  test("counts in full where it is part of a multiRead", () => {
    const parts = (count: number): Parameters<TestReplica["ask"]>[2] =>
      multi(...Array.from({ length: count }, () => [OpCode.GET_CHILDREN, read("/b")] as const));
    expect(zk.ask(ref, OpCode.MULTI_READ, parts(1))).toContain("123456789012");
    expect(zk.ask(ref, OpCode.MULTI_READ, parts(2))).toBe("MARSHALLING_ERROR");
  });
});

describe("getAllChildrenNumber", () => {
  const { zk, ref } = start();
  for (const path of ["/a", "/a/b", "/a/b/c", "/a/d", "/ab"]) zk.ask(ref, OpCode.CREATE, create(path));
  zk.ask(ref, OpCode.CREATE, create("/closed", "", 0, NO_RIGHTS));

  test.each([
    ["/a", "integer 3"],
    ["/a/b/c", "integer 0"],
    ["/zookeeper", "integer 2"],
    ["/", "integer 9"],
    // As Apache counts: the root lies below the empty path.
    ["", "integer 10"],
    ["/nope", "NO_NODE"],
    ["/a/", "NO_NODE"],
    ["/closed", "NO_AUTH"],
    ["/closed/nope", "NO_NODE"],
  ])("of %j is %s", (path, answer) => {
    expect(zk.ask(ref, OpCode.GET_ALL_CHILDREN_NUMBER, onPath(path))).toBe(answer);
  });

  test("without a path is refused", () => {
    expect(zk.ask(ref, OpCode.GET_ALL_CHILDREN_NUMBER, onNoPath())).toBe("MARSHALLING_ERROR");
  });
});

describe("whoAmI", () => {
  test("shows users and addresses, each identity once, and no hash", () => {
    const { zk, ref } = start();
    expect(zk.ask(ref, OpCode.WHO_AM_I)).toBe("identities ip:127.0.0.1");
    for (const credentials of ["alice:a", "alice:x", "bob", ":y", "alice:a"]) zk.authenticate(ref, credentials);
    expect(zk.ask(ref, OpCode.WHO_AM_I)).toBe("identities ip:127.0.0.1,digest:alice,digest:alice,digest:bob,digest:");
  });

  test("shows the identities at the time of the request, though its answer waits and the client authenticates meanwhile", () => {
    const { zk, ref } = start();
    const become =
      (credentials: string): ((writer: JuteWriter) => void) =>
      (writer) => {
        writer.int(0);
        writer.text("digest");
        writer.text(credentials);
      };
    zk.send(ref, 1, OpCode.CREATE, create("/a"));
    zk.send(ref, 2, OpCode.WHO_AM_I);
    zk.send(ref, -4, OpCode.AUTH, become("alice:a"));
    zk.send(ref, 3, OpCode.WHO_AM_I);
    zk.send(ref, -4, OpCode.AUTH, become("bob:b"));
    zk.turn();
    zk.send(ref, 4, OpCode.WHO_AM_I);
    expect(zk.take(ref)).toEqual([
      "1 path /a",
      "2 identities ip:127.0.0.1",
      "-4 ok",
      "3 identities ip:127.0.0.1,digest:alice",
      "-4 ok",
      "4 identities ip:127.0.0.1,digest:alice,digest:bob",
    ]);
  });

  test("shows the superuser as a scheme without a user, beside the digest it came with", () => {
    const { zk, ref } = start();
    zk.authenticate(ref, "super:test");
    expect(zk.ask(ref, OpCode.WHO_AM_I)).toBe("identities ip:127.0.0.1,super:,digest:super");
  });
});
