import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";
import { humanBytes } from "./du.ts";

let server: ZooidServer;
let session: Session;
beforeAll(async () => {
  server = await startServer({ port: 0 });
  session = await Session.open(server.connectString);
  for (const [path, bytes] of [
    ["/d", 10],
    ["/d/a", 100],
    ["/d/a/x", 1000],
    ["/d/a/x/y", 4000],
    ["/d/b", 200],
  ] as const)
    await session.run("create", path, "x".repeat(bytes));
  await session.run("create", "-e", "/d/b/member", "12345");
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await server.stop();
});

test.each([
  ["each child and the whole", [], "5100\t3\t/d/a\n205\t2\t/d/b\t1 ephemeral\n5315\t6\t/d\t1 ephemeral\n"],
  ["the whole alone", ["-d", "0"], "5315\t6\t/d\t1 ephemeral\n"],
  ["the largest", ["-d", "9", "--top", "2"], "5315\t6\t/d\t1 ephemeral\n5100\t3\t/d/a\n"],
  ["for people", ["-d", "0", "-h"], "5.2 KiB\t6\t/d\t1 ephemeral\n"],
])("%s", async (_, flags, expected) => {
  const found = await session.run("du", ...flags, "/d");
  expect([found.stdout, found.stderr, await found.ended]).toEqual([expected, "", 0]);
});

test("in JSON a line for each subtree, then the whole", async () => {
  await using json = await Session.open(server.connectString, "json");
  expect((await json.run("du", "/d")).objects).toMatchObject([
    { item: { path: "/d/a", bytes: 5100, nodes: 3, ephemerals: 0 } },
    { item: { path: "/d/b", bytes: 205, nodes: 2, ephemerals: 1 } },
    { item: { path: "/d", bytes: 5315 } },
    { command: "du", path: "/d", bytes: 5315, nodes: 6, ephemerals: 1, forbidden: 0 },
  ]);
});

test("nodes that may not be read are counted, and named without what is below them", async () => {
  await using json = await Session.open(server.connectString, "json");
  for (const path of ["/f", "/f/closed", "/f/closed/below", "/f/shut"]) await session.run("create", path, "12345");
  for (const path of ["/f/closed", "/f/shut"]) await session.run("setAcl", path, "ip:192.0.2.1:cdrwa");
  expect((await json.run("du", "-d", "0", "/f")).objects.at(-1)).toMatchObject({ nodes: 3, bytes: 5, forbidden: 2 });
  const text = await session.run("du", "-d", "0", "/f");
  expect([text.stdout, text.stderr]).toEqual(["5\t3\t/f\n", expect.stringContaining("2 ")]);
});

test.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1536, "1.5 KiB"],
  [5 * 1024 ** 4, "5120.0 GiB"],
])("%i bytes are %s", (bytes, text) => {
  expect(humanBytes(bytes)).toBe(text);
});
