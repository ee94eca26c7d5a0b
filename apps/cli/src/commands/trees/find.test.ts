import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

let server: ZooidServer;
let session: Session;
beforeAll(async () => {
  server = await startServer({ port: 0 });
  session = await Session.open(server.connectString);
  await session.run("create", "/f");
  await session.run("create", "/f/lock-1", "x".repeat(2000));
  await session.run("create", "-e", "/f/lock-2", "short");
  await session.run("create", "/f/other");
  await session.run("create", "/f/other/lock-3");
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await server.stop();
});

test.each([
  ["all nodes", [], ["/f", "/f/lock-1", "/f/lock-2", "/f/other", "/f/other/lock-3"]],
  ["by name", ["--name", "lock-*"], ["/f/lock-1", "/f/lock-2", "/f/other/lock-3"]],
  ["by path", ["--path", "*/other/*"], ["/f/other/lock-3"]],
  ["ephemerals", ["--ephemeral"], ["/f/lock-2"]],
  ["by owner", ["--owner", "0x1"], []],
  ["large ones", ["--size", "+1k"], ["/f/lock-1"]],
  ["parents", ["--children", "+0"], ["/f", "/f/other"]],
  ["recent ones", ["--mtime", "-1h", "--depth", "0"], ["/f"]],
  ["old ones", ["--ctime", "+1h"], []],
  ["all conditions hold", ["--name", "lock-*", "--ephemeral"], ["/f/lock-2"]],
  ["not below a depth", ["--depth", "1", "--name", "lock-*"], ["/f/lock-1", "/f/lock-2"]],
  ["the first ones", ["--limit", "2"], ["/f", "/f/lock-1"]],
])("%s", async (_, flags, expected) => {
  const found = await session.run("find", ...flags, "/f");
  expect([found.stdout, found.stderr]).toEqual([expected.map((path) => `${path}\n`).join(""), ""]);
  expect(await found.ended).toBe(0);
});

test("the owner of an ephemeral finds it", async () => {
  const row = await session.run("find", "-s", "--ephemeral", "/f");
  const [path, owner = "", size, children] = row.stdout.split("\t");
  expect([path, size, children]).toEqual(["/f/lock-2", "5", "0"]);
  expect((await session.run("find", "--owner", owner, "/f")).stdout).toBe("/f/lock-2\n");
});

test("in JSON each node is a line, and the last one counts", async () => {
  await using json = await Session.open(server.connectString, "json");
  const found = await json.run("find", "--name", "lock-*", "/f");
  expect(found.objects).toMatchObject([
    { command: "find", item: { path: "/f/lock-1", stat: { dataLength: 2000 } } },
    { command: "find", item: { path: "/f/lock-2" } },
    { command: "find", item: { path: "/f/other/lock-3" } },
    { command: "find", visited: 5, found: 3, forbidden: 0 },
  ]);
});

test.each([[["--owner", "me"]], [["--size", "big"]], [["--depth", "-1"]], [["--mtime", "5"]]])(
  "%j is refused",
  async (flags) => {
    const found = await session.run("find", ...flags, "/f");
    expect([found.stdout, await found.ended]).toEqual(["", 1]);
    expect(found.stderr).toContain(flags[0]);
  },
);
