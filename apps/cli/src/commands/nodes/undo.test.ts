import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect, READ_ONLY_ACL } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { formatZxid } from "@zooid/model";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Interpreter } from "../../interpreter.ts";
import { Output } from "../../output.ts";
import { connectionTo, Session } from "../../testing/session.ts";

let folder = "";
let server: ZooidServer;
let session: Session;
let client: Client;
const zxids: Record<string, string> = {};

const start = (): Promise<ZooidServer> =>
  startServer({ port: 0, dataDir: join(folder, "data"), history: { retainMs: 3_600_000 } });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-undo-"));
  {
    await using first = await start();
    await using zk = await connect(first.connectString);
    await zk.create("/set", "host=db1\nport=1\n");
    zxids["set"] = formatZxid((await zk.set("/set", "host=db2\nport=1\n")).mzxid);
    await zk.create("/made", "1");
    zxids["made"] = formatZxid((await zk.get("/made")).stat.czxid);
    await zk.create("/gone", null, { acl: READ_ONLY_ACL });
    await zk.create("/e", "1", { mode: "ephemeral" });
    await zk.create("/parent");
    await zk.create("/parent/child", "1");
    await zk.delete("/parent/child");
    zxids["child"] = formatZxid(zk.lastZxid);
    await zk.delete("/parent");
    await zk.delete("/gone");
    await zk.delete("/e");
    await zk.create("/last");
    zxids["last"] = formatZxid((await zk.get("/last")).stat.czxid);
  }
  // A stop writes the file of what was committed.
  server = await start();
  session = await Session.open(server.connectString);
  client = await connect(server.connectString);
});
afterAll(async () => {
  await client.close();
  await session[Symbol.asyncDispose]();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A change that is before that one. */
function before(name: string, steps: number): string {
  return formatZxid((Number.parseInt((zxids[name] ?? "").slice(2), 16) - steps) as never);
}

test("without a terminal to ask at, nothing is written unless --yes is given", async () => {
  const refused = await session.run("undo", "/set", zxids["set"] ?? "");
  expect([refused.stderr.includes("terminal"), await refused.ended]).toEqual([true, 1]);
  expect(await client.getText("/set")).toContain("db2");
});

test("a node that changes while the question is open is not written", async () => {
  const path = "/set";
  const output = new Output({ format: "text", stdout: () => undefined, stderr: () => undefined });
  const connection = connectionTo(server.connectString, output);
  await connection.open();
  const interpreter = new Interpreter(connection, output);
  const before = await client.get(path);
  interpreter.terminal = {
    ask: async () => {
      await client.set(path, "written meanwhile");
      return "y";
    },
    lendTerminal: (work) => work(),
  };
  await interpreter.run(["undo", path, zxids["set"] ?? ""], new AbortController().signal);
  expect(interpreter.exitStatus).not.toBe(0);
  expect(await client.getText(path)).toBe("written meanwhile");
  await client.set(path, before.data);
  await connection.close();
});

test("data are those before the change, as the next version; the difference is printed", async () => {
  const undone = await session.run("undo", "--yes", "/set", zxids["set"] ?? "");
  expect(undone.stdout.split("\n")).toEqual([
    "@@ -1,2 +1,2 @@",
    "-host=db2",
    "+host=db1",
    " port=1",
    "/set is set, at version 3",
    `/set is as before ${zxids["set"]}`,
    "",
  ]);
  expect([await client.getText("/set"), (await client.get("/set")).stat.version]).toEqual(["host=db1\nport=1\n", 4]);
  expect((await session.run("undo", "--yes", "/set", zxids["set"] ?? "")).stdout).toBe(
    `unchanged: /set has the data of before ${zxids["set"]}; access lists are not undone\n`,
  );
});

test("a node that the change made is deleted, and one that it deleted is made again with its list", async () => {
  await session.run("undo", "--yes", "/made", zxids["made"] ?? "");
  expect(await client.exists("/made")).toBeNull();
  expect(await (await session.run("undo", "--yes", "/gone", before("last", 2))).ended).toBe(0);
  expect((await client.get("/gone")).data).toBeNull();
  expect((await client.getAcl("/gone")).acl).toEqual(READ_ONLY_ACL);
});

test("a node whose parent is gone as well names the parent", async () => {
  const { stderr, ended } = await session.run("undo", "--yes", "/parent/child", zxids["child"] ?? "");
  expect(stderr).toContain("/parent, the parent of /parent/child, is not there");
  expect(await ended).not.toBe(0);
  expect(await client.exists("/parent")).toBeNull();
});

test.each<[string, string, () => string, RegExp]>([
  [
    "an ephemeral node that is gone",
    "/e",
    () => before("last", 1),
    /\/e was an ephemeral node, which is not made again/,
  ],
  ["a zxid that is none", "/set", () => "now", /undo takes a zxid like 0x300000007, found "now"/],
  ["the zxid of no change", "/set", () => "0x0", /undo takes the zxid of a change/],
  ["a moment that the history does not reach", "/set", () => "0x7000000000", /does not reach that moment|HISTORY_GONE/],
])("%s is refused", async (_, path, zxid, sentence) => {
  const { stderr, stdout, ended } = await session.run("undo", "--yes", path, zxid());
  expect(stderr + stdout).toMatch(sentence);
  expect(await ended).not.toBe(0);
});

test("a node with children that the change made is kept", async () => {
  await client.create("/last/child");
  expect(await (await session.run("undo", "--yes", "/last", zxids["last"] ?? "")).ended).not.toBe(0);
  expect(await client.exists("/last")).not.toBeNull();
});
