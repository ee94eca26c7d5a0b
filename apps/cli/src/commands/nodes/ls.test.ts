import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

let server: ZooidServer;
let session: Session;

beforeAll(async () => {
  server = await startServer({ port: 0 });
  session = await Session.open(server.connectString);
  for (const words of [["/q"], ["/q/b", "22"], ["/q/a", "1"]]) await session.run("create", ...words);
});

afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await server.stop();
});

test("ls --page prints the children in order, a line each", async () => {
  expect((await session.run("ls", "--page", "/q")).stdout).toBe("a\nb\n");
});

test("ls --page -s prints versions and sizes too", async () => {
  expect((await session.run("ls", "--page", "-s", "/q")).stdout).toBe("a\t0\t1\nb\t0\t2\n");
});

test("ls --page --json has the Stats as an object", async () => {
  await using json = await Session.open(server.connectString, "json");
  const { stdout } = await json.run("ls", "--page", "-s", "/q");
  expect(JSON.parse(stdout)).toMatchObject({
    path: "/q",
    children: [
      { name: "a", stat: { dataLength: 1 } },
      { name: "b", stat: { dataLength: 2 } },
    ],
  });
});
