import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

let server: ZooidServer;
let session: Session;
let directory = "";
beforeAll(async () => {
  server = await startServer({ port: 0 });
  session = await Session.open(server.connectString);
  directory = mkdtempSync(join(tmpdir(), "zooid-diff-"));
  await using client = await connect(server.connectString);
  for (const [path, data] of [
    ["/l", ""],
    ["/l/a", "one\ntwo\n"],
    ["/l/a/x", ""],
    ["/l/a-", ""],
    ["/l/b", "same"],
    ["/l/z", ""],
    ["/r", null],
    ["/r/a", "one\n2\n"],
    ["/r/a-", ""],
    ["/r/b", "same"],
    ["/r/c", ""],
    ["/r/c/d", ""],
  ] as const)
    await client.create(path, data);
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

test("nodes of one side only and changed data are printed in the order of paths, and it fails", async () => {
  const found = await session.run("diff", "/l", "/r");
  expect(found.stdout.split("\n")).toEqual([
    "! /l/a /r/a",
    "  @@ -1,2 +1,2 @@",
    "   one",
    "  -two",
    "  +2",
    "- /l/a/x",
    "+ /r/c",
    "+ /r/c/d",
    "- /l/z",
    "",
  ]);
  expect(await found.ended).toBe(1);
  const quiet = await session.run("diff", "-q", "/l/a", "/r/a");
  expect(quiet.stdout).toBe("! /l/a /r/a\n- /l/a/x\n");
});

test("equal subtrees print nothing, and it succeeds", async () => {
  const found = await session.run("diff", "/l/b", "/r/b");
  expect([found.stdout, found.stderr, await found.ended]).toEqual(["", "", 0]);
});

test("in JSON with both values", async () => {
  await using json = await Session.open(server.connectString, "json");
  const found = await json.run("diff", "/l/a", "/r/a");
  expect(await found.ended).toBe(1);
  expect(found.objects).toMatchObject([
    { item: { changed: "/l/a", other: "/r/a", from: { data: "one\ntwo\n" }, to: { data: "one\n2\n" } } },
    { item: { removed: "/l/a/x" } },
    { command: "diff", same: 0, removed: 1, added: 0, changed: 1, unread: 0 },
  ]);
});

test("a node's data are compared with a file", async () => {
  const file = join(directory, "value");
  writeFileSync(file, "same");
  expect(await (await session.run("diff", "--file", file, "/l/b")).ended).toBe(0);
  writeFileSync(file, "other");
  const found = await session.run("diff", "--file", file, "/l/b");
  expect([found.stdout.includes("+other"), await found.ended]).toEqual([true, 1]);
  const quiet = await session.run("diff", "-q", "--file", file, "/l/b");
  expect(quiet.stdout).toBe(`! /l/b ${file}\n`);
  const missing = await session.run("diff", "--file", `${file}-not`, "/l/b");
  expect([missing.stderr.includes("ENOENT"), await missing.ended]).toEqual([true, 1]);
});
