import { connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

let server: ZooidServer;
let session: Session;
beforeAll(async () => {
  server = await startServer({ port: 0 });
  session = await Session.open(server.connectString);
  await using client = await connect(server.connectString);
  await client.create("/g", "host=db1\nport=5432\nHOST=db2\n");
  await client.create("/g/binary", Uint8Array.of(0xff, 0x68, 0x6f, 0x73, 0x74));
  await client.create("/g/escape", "host \u001b[2J");
  await client.create("/g/none");
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await server.stop();
});

test.each([
  ["lines with their numbers", ["host="], "/g:1: host=db1\n"],
  ["whatever the case", ["-i", "^host=db\\d$"], "/g:1: host=db1\n/g:3: HOST=db2\n"],
  ["a text as it is", ["-F", "[2J"], "/g/escape:1: host \\x1b[2J\n"],
  ["paths only", ["-l", "host"], "/g\n/g/binary\n/g/escape\n"],
  ["bytes that are no text", ["--name", "binary", "host"], "/g/binary:1: (binary data matches)\n"],
])("%s", async (_, words, expected) => {
  const found = await session.run("grep", ...words, "/g");
  expect([found.stdout, found.stderr, await found.ended]).toEqual([expected, "", 0]);
});

test("it fails without a match, and refuses what is no expression", async () => {
  const none = await session.run("grep", "nothing", "/g");
  expect([none.stdout, await none.ended]).toEqual(["", 1]);
  const wrong = await session.run("grep", "(", "/g");
  expect([wrong.stdout, await wrong.ended]).toEqual(["", 1]);
  expect(wrong.stderr).toContain("regular expression");
});

test("in JSON with the lines", async () => {
  await using json = await Session.open(server.connectString, "json");
  expect((await json.run("grep", "port", "/g")).objects).toMatchObject([
    { item: { path: "/g", lines: [{ number: 2, text: "port=5432" }] } },
    { command: "grep", searched: 4, found: 1, lines: 1, forbidden: 0 },
  ]);
});
