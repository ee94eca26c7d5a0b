import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

let server: ZooidServer;
beforeAll(async () => {
  server = await startServer({ port: 0 });
});
afterAll(() => server.stop());

test("items are taken first in, first out, and other nodes are ignored", async () => {
  await using session = await Session.open(server.connectString);
  const put = await session.run("queue", "put", "/a", "one");
  expect([put.stdout, put.stderr]).toEqual(["", "Put into /a\n"]);
  await session.run("queue", "put", "/a", "two");
  await session.run("create", "/a/other");
  await session.run("queue", "put", "/a");
  expect((await session.run("queue", "list", "/a")).stdout).toBe(
    "qn-0000000000 one\nqn-0000000001 two\nqn-0000000003 null\n",
  );
  expect((await session.run("queue", "peek", "/a")).stdout).toBe("one\n");
  expect((await session.run("queue", "take", "/a")).stdout).toBe("one\n");
  expect((await session.run("queue", "take", "/a")).stdout).toBe("two\n");
});

test("a taker waits for an item, with a time limit, or until the user cancels", async () => {
  await using taking = await Session.open(server.connectString, "json");
  await using putting = await Session.open(server.connectString);
  const taker = taking.start("queue", "take", "/b");
  await putting.run("queue", "put", "/b", "x");
  expect(await taker.ended).toBe(0);
  expect(taker.objects).toEqual([{ command: "queue", path: "/b", data: "x" }]);
  const late = await taking.run("queue", "take", "--timeout", "0", "/b");
  expect(await late.ended).toBe(124);
  expect(late.objects).toMatchObject([{ error: { code: "LOCK_TIMEOUT" } }]);
  const patient = taking.start("queue", "take", "/b");
  patient.giveUp();
  expect(await patient.ended).toBe(130);
});

test("an empty queue has no first item, and a missing one has no items", async () => {
  await using session = await Session.open(server.connectString, "json");
  const peeked = await session.run("queue", "peek", "/c");
  expect(await peeked.ended).toBe(1);
  expect(peeked.objects).toMatchObject([{ error: { code: "QUEUE_EMPTY", path: "/c" } }]);
  expect((await session.run("queue", "list", "/c")).objects).toEqual([{ command: "queue", path: "/c", items: [] }]);
});

test("binary data survive", async () => {
  await using session = await Session.open(server.connectString, "json");
  await session.run("queue", "put", "/d");
  await session.run("set", "-b", "/d/qn-0000000000", "/w==");
  expect((await session.run("queue", "take", "/d")).objects).toMatchObject([{ data: "/w==", encoding: "base64" }]);
});

test("invalid arguments are answered with the usage", async () => {
  await using session = await Session.open(server.connectString);
  const found = await session.run("queue", "steal", "/a");
  expect([found.stderr, await found.ended]).toEqual(["queue put|take|peek|list [--timeout ms] path [data]\n", 1]);
});
