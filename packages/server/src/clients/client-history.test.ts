import { createHash } from "node:crypto";
import {
  ChangesScope,
  ErrorCode,
  OpCode,
  type PastNode,
  PastPart,
  SERVER_FEATURES_PATH,
  type Zxid,
} from "@zooid/model";
import {
  decodePastChanges,
  decodePastChildren,
  decodePastNode,
  type JuteWriter,
  type ShownChanges,
  writeChangesRequest,
  writePastRequest,
} from "@zooid/wire";
import {
  auth,
  create,
  RawClient,
  type RawReply,
  read,
  request,
  setData,
  versioned,
} from "@zooid/wire/testing/raw-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ZooidServer } from "../server-api.ts";
import { ArchivedHistory } from "../testing/archived-history.ts";

const ALICE = "alice:secret";
const ACL_OF_ALICE = `alice:${createHash("sha1").update(ALICE).digest("base64")}`;

let history: ArchivedHistory;
let server: ZooidServer;
/** Zxids of what was written, in order. */
let zxids: Zxid[] = [];

beforeAll(async () => {
  history = await ArchivedHistory.make();
  {
    await using first = await history.start();
    await using client = await RawClient.withSession(first.port);
    const step = async (op: number, body: (writer: JuteWriter) => void): Promise<void> => {
      const { code, zxid } = await client.ask(op, body);
      expect(code).toBe(0);
      zxids.push(zxid as Zxid);
    };
    await client.ask(OpCode.AUTH, auth("digest", ALICE));
    zxids = [];
    await step(OpCode.CREATE, create("/open", "0"));
    await step(OpCode.SET_DATA, setData("/open", "1"));
    await step(OpCode.CREATE, closed("/closed", "old secret"));
    await step(OpCode.SET_ACL, aclOf("/closed", "world", "anyone"));
    await step(OpCode.SET_DATA, setData("/closed", "for all"));
    await step(OpCode.CREATE, closed("/gone", "gone secret"));
    await step(OpCode.DELETE, versioned("/gone"));
    await step(OpCode.CREATE, closed("/again", "first secret"));
    await step(OpCode.DELETE, versioned("/again"));
    await step(OpCode.CREATE, create("/again", "second"));
    await step(OpCode.CREATE, closed("/mine", "mine"));
    await client.ask(OpCode.CREATE, create("/mine/secret-name", ""));
    await client.ask(OpCode.CREATE, create("/closed/child", ""));
    await step(OpCode.SET_DATA, setData("/open", "2"));
  }
  // What the first server committed is in a file.
  server = await history.start();
});
afterAll(async () => {
  await server.stop();
  await history[Symbol.asyncDispose]();
});

function closed(path: string, data: string): (writer: JuteWriter) => void {
  return (writer) => {
    writer.text(path);
    writer.text(data);
    aclBody(writer, "digest", ACL_OF_ALICE);
    writer.int(0);
  };
}

function aclOf(path: string, scheme: string, id: string): (writer: JuteWriter) => void {
  return (writer) => {
    writer.text(path);
    aclBody(writer, scheme, id);
    writer.int(-1);
  };
}

function aclBody(writer: JuteWriter, scheme: string, id: string): void {
  writer.int(1);
  writer.int(31);
  writer.text(scheme);
  writer.text(id);
}

async function clientOf(who: "alice" | "anyone" = "anyone"): Promise<RawClient> {
  const client = await RawClient.withSession(server.port);
  if (who === "alice") await client.ask(OpCode.AUTH, auth("digest", ALICE));
  return client;
}

function past(client: RawClient, path: string, at: Zxid): Promise<RawReply> {
  return client.ask(OpCode.GET_PAST, (writer) => writePastRequest(writer, path, { zxid: at }));
}

function children(client: RawClient, path: string, at: Zxid): Promise<RawReply> {
  return client.ask(OpCode.GET_PAST, (writer) => writePastRequest(writer, path, { zxid: at }, PastPart.CHILDREN));
}

function changes(client: RawClient, path: string, after = 0 as Zxid, countMax = 100): Promise<RawReply> {
  return client.ask(OpCode.GET_CHANGES, (writer) => writeChangesRequest(writer, path, { after, countMax }));
}

function changesBelow(client: RawClient, path: string, after = 0 as Zxid): Promise<RawReply> {
  const request = { after, countMax: 1000, scope: ChangesScope.SUBTREE };
  return client.ask(OpCode.GET_CHANGES, (writer) => writeChangesRequest(writer, path, request));
}

function nodeOf(reply: RawReply): PastNode {
  return decodePastNode(bodyOf(reply));
}

function namesOf(reply: RawReply): readonly string[] {
  return decodePastChildren(bodyOf(reply)).names.toSorted();
}

function pageOf(reply: RawReply): ShownChanges {
  return decodePastChanges(bodyOf(reply));
}

/** The one buffer of an answer. */
function bodyOf({ code, body }: RawReply): Uint8Array {
  expect(code).toBe(ErrorCode.OK);
  const length = body.int();
  return body.bytes.subarray(body.at, body.at + length);
}

function textOf(data: Uint8Array | null): string | null {
  return data === null ? null : Buffer.from(data).toString();
}

function zxidAt(place: number): Zxid {
  return zxids[place] ?? expect.unreachable("it was written");
}

test("a server with a history names it among its features", async () => {
  await using client = await clientOf();
  expect((await client.ask(OpCode.GET_DATA, read(SERVER_FEATURES_PATH))).body.text()).toBe(
    "child-pages history level-1",
  );
});

test("a node has the values that it had behind each transaction", async () => {
  await using client = await clientOf();
  const [made, set] = [nodeOf(await past(client, "/open", zxidAt(0))), nodeOf(await past(client, "/open", zxidAt(1)))];
  expect([textOf(made.data), made.version, textOf(set.data), set.version]).toEqual(["0", 0, "1", 1]);
  expect([set.czxid, set.mzxid, set.acl]).toEqual([
    zxidAt(0),
    zxidAt(1),
    [{ perms: 31, scheme: "world", id: "anyone" }],
  ]);
  expect((await past(client, "/closed", zxidAt(1))).code).toBe(ErrorCode.NO_NODE);
  expect((await past(client, "/open", (zxidAt(11) + 1_000_000) as Zxid)).code).toBe(ErrorCode.HISTORY_GONE);
});

test("the children of a node are those that it had behind each transaction", async () => {
  await using client = await clientOf();
  const at = async (place: number): Promise<readonly string[]> => namesOf(await children(client, "/", zxidAt(place)));
  expect(await at(4)).toEqual(["closed", "open", "zookeeper"]);
  expect(await at(5)).toEqual(["closed", "gone", "open", "zookeeper"]);
  expect(await at(8)).toEqual(["closed", "open", "zookeeper"]);
  expect(await at(9)).toEqual(["again", "closed", "open", "zookeeper"]);
  expect(namesOf(await children(client, "/open", zxidAt(0)))).toEqual([]);
  expect((await children(client, "/open", (zxidAt(0) - 1) as Zxid)).code).toBe(ErrorCode.NO_NODE);
});

test("changes come in pages, with their data", async () => {
  await using client = await clientOf();
  const whole = pageOf(await changes(client, "/open"));
  expect(whole.changes.map(({ zxid, op, data, version }) => [zxid, op, textOf(data), version])).toEqual([
    [zxidAt(0), OpCode.CREATE, "0", 0],
    [zxidAt(1), OpCode.SET_DATA, "1", 1],
    [zxidAt(11), OpCode.SET_DATA, "2", 2],
  ]);
  expect([whole.isLast, whole.gaps]).toEqual([true, []]);
  const first = pageOf(await changes(client, "/open", 0 as Zxid, 2));
  expect([first.changes.length, first.isLast, first.reached]).toEqual([2, false, zxidAt(1)]);
  const second = pageOf(await changes(client, "/open", first.reached, 2));
  expect(second.changes).toEqual(whole.changes.slice(2));
  expect(pageOf(await changes(client, "/none-but-open-root")).changes).toEqual([]);
});

describe("a reader gets nothing that it might not have read then", () => {
  test("of a node that was closed, and is open now", async () => {
    await using client = await clientOf();
    expect((await past(client, "/closed", zxidAt(2))).code).toBe(ErrorCode.NO_AUTH);
    expect(textOf(nodeOf(await past(client, "/closed", zxidAt(4))).data)).toBe("for all");
    const { changes: found } = pageOf(await changes(client, "/closed"));
    expect(found.map(({ isReadable, data }) => [isReadable, textOf(data)])).toEqual([
      [false, null],
      [true, null],
      [true, "for all"],
    ]);
    // A page that begins behind the create.
    expect(pageOf(await changes(client, "/closed", zxidAt(3))).changes).toMatchObject([{ isReadable: true }]);
  });

  test("of a node that is closed now", async () => {
    await using client = await clientOf();
    expect((await past(client, "/mine", zxidAt(10))).code).toBe(ErrorCode.NO_AUTH);
    expect((await changes(client, "/mine")).code).toBe(ErrorCode.NO_AUTH);
  });

  test("of the children of a node that is closed, was closed, or is gone", async () => {
    await using client = await clientOf();
    for (const [path, place] of [
      ["/mine", 11],
      ["/closed", 2],
      ["/gone", 5],
    ] as const) {
      expect((await children(client, path, zxidAt(place))).code).toBe(ErrorCode.NO_AUTH);
    }
    expect(namesOf(await children(client, "/closed", zxidAt(11)))).toEqual(["child"]);
    await using alice = await clientOf("alice");
    expect(namesOf(await children(alice, "/mine", zxidAt(11)))).toEqual(["secret-name"]);
  });

  test("of a node that is gone, or another one's now", async () => {
    await using client = await clientOf();
    expect((await past(client, "/gone", zxidAt(5))).code).toBe(ErrorCode.NO_AUTH);
    for (const path of ["/gone", "/again"]) {
      const { changes: found } = pageOf(await changes(client, path));
      expect(JSON.stringify(found.map(({ data }) => textOf(data)))).not.toContain("secret");
      expect(found.slice(0, 2).map(({ isReadable }) => isReadable)).toEqual([false, false]);
    }
  });

  test("of a subtree: no change of a closed node, and no data of then that were closed", async () => {
    await using client = await clientOf();
    const page = pageOf(await changesBelow(client, "/"));
    const text = JSON.stringify(page.changes.map(({ path, data }) => [path, textOf(data)]));
    for (const secret of ["secret", "mine"]) expect(text).not.toContain(secret);
    expect(page.changes.filter(({ path }) => path === "/closed").map(({ isReadable }) => isReadable)).toEqual([
      false,
      true,
      true,
    ]);
    // The root is open to all, so what is gone below it is named.
    expect(page.changes.filter(({ path }) => path === "/gone").map(({ data }) => data)).toEqual([null, null]);
    expect((await changesBelow(client, "/mine")).code).toBe(ErrorCode.NO_AUTH);
    expect(pageOf(await changesBelow(client, "/closed")).changes.map(({ path }) => path)).toContain("/closed/child");
  });

  test("of a subtree whose lists are in no page", async () => {
    await using client = await clientOf();
    // Behind the setACL: the list is looked up.
    const page = pageOf(await changesBelow(client, "/closed", zxidAt(3)));
    expect(page.changes.map(({ path, data }) => [path, textOf(data)])).toEqual([
      ["/closed", "for all"],
      ["/closed/child", ""],
    ]);
  });

  test("but who might have, does", async () => {
    await using client = await clientOf("alice");
    expect(textOf(nodeOf(await past(client, "/closed", zxidAt(2))).data)).toBe("old secret");
    expect(textOf(nodeOf(await past(client, "/gone", zxidAt(5))).data)).toBe("gone secret");
    expect(pageOf(await changes(client, "/mine")).changes).toMatchObject([{ isReadable: true }]);
    const below = pageOf(await changesBelow(client, "/"));
    expect(below.changes.map(({ path }) => path)).toContain("/mine/secret-name");
    expect(below.changes.map(({ data }) => textOf(data))).toContain("gone secret");
  });
});

test("a change names who made it, by address and user, and never by a hash", async () => {
  await using alice = await clientOf("alice");
  const [made] = pageOf(await changes(alice, "/mine")).changes;
  expect(made?.who).toBe("127.0.0.1\ndigest:alice");
  const reply = await changesBelow(alice, "/");
  expect(Buffer.from(bodyOf(reply)).toString("latin1")).not.toContain(ACL_OF_ALICE.slice("alice:".length));
});

test.each<[string, (client: RawClient) => Promise<RawReply>, ErrorCode]>([
  ["a path that is none", (client) => past(client, "/open/", 1 as Zxid), ErrorCode.BAD_ARGUMENTS],
  ["an empty path", (client) => changes(client, ""), ErrorCode.BAD_ARGUMENTS],
  ["a negative zxid", (client) => past(client, "/open", -1 as Zxid), ErrorCode.BAD_ARGUMENTS],
  ["a page of nothing", (client) => changes(client, "/open", 0 as Zxid, 0), ErrorCode.BAD_ARGUMENTS],
  [
    "a part that is none",
    (client) => client.ask(OpCode.GET_PAST, (writer) => writePastRequest(writer, "/open", { zxid: 1 as Zxid }, 7)),
    ErrorCode.BAD_ARGUMENTS,
  ],
  [
    "no path",
    (client) =>
      client.ask(OpCode.GET_PAST, (writer) => {
        writer.null();
        writer.zxid(1);
        writer.int(0);
        writer.int(0);
      }),
    ErrorCode.MARSHALLING_ERROR,
  ],
  [
    "a body that is cut off",
    (client) => client.ask(OpCode.GET_CHANGES, (writer) => writer.text("/open")),
    ErrorCode.MARSHALLING_ERROR,
  ],
])("%s is refused, and the connection is kept", async (_, ask, code) => {
  await using client = await clientOf();
  expect((await ask(client)).code).toBe(code);
  expect((await client.ask(OpCode.EXISTS, read("/open"))).code).toBe(0);
});

test("answers have the order of the requests, among writes and reads", async () => {
  await using client = await clientOf();
  const body = (writer: JuteWriter): void => writeChangesRequest(writer, "/open", { after: 0 as Zxid, countMax: 100 });
  const frames: Buffer[] = [];
  for (let xid = 1; xid <= 60; xid += 4) {
    frames.push(
      request(xid, OpCode.SET_DATA, setData("/again", `${xid}`)),
      request(xid + 1, OpCode.GET_CHANGES, body),
      request(xid + 2, OpCode.SET_DATA, setData("/again", `${xid}'`)),
      request(xid + 3, OpCode.GET_DATA, read("/again")),
    );
  }
  client.send(...frames);
  const found: number[] = [];
  for (let i = 1; i <= 60; i++) found.push((await client.reply()).xid);
  expect(found).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
});

test("a connection that goes while its question is read leaves nothing behind", async () => {
  {
    await using client = await clientOf();
    client.send(
      request(1, OpCode.GET_CHANGES, (writer) =>
        writeChangesRequest(writer, "/open", { after: 0 as Zxid, countMax: 1 }),
      ),
    );
  }
  await using other = await clientOf();
  expect(pageOf(await changes(other, "/open")).changes).toHaveLength(3);
});
