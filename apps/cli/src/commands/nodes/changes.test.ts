import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { OPEN_ACL, READ_ONLY_ACL } from "@zooid/model";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

let folder = "";
let server: ZooidServer;
/** The zxids of the create and of the two sets of `/a`. */
let zxids: string[] = [];

const start = (): Promise<ZooidServer> =>
  startServer({ port: 0, dataDir: join(folder, "data"), history: { retainMs: 3_600_000, fileMs: 100 } });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "zooid-changes-"));
  {
    await using first = await start();
    await using zk = await connect(first.connectString);
    await zk.create("/a", "one");
    const made = (await zk.get("/a")).stat.czxid;
    const set = (await zk.set("/a", "two\u001b[2J")).mzxid;
    const last = (await zk.set("/a", Buffer.from([0xff]))).mzxid;
    for (const name of ["c", "b"]) await zk.create(`/a/${name}`);
    // Without the permission to read, until it is given to anyone.
    await zk.create("/hidden", "secret", { acl: [{ perms: 30, scheme: "world", id: "anyone" }] });
    await zk.setAcl("/hidden", OPEN_ACL);
    await zk.create("/not-mine", "shown", { acl: READ_ONLY_ACL });
    zxids = [made, set, last].map((zxid) => `0x${zxid.toString(16)}`);
  }
  // A stop writes the file of what was committed.
  server = await start();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(format: "text" | "json", ...words: readonly string[]): Promise<readonly string[]> {
  await using session = await Session.open(server.connectString, format);
  const { stdout } = await session.run(...words);
  return stdout.split("\n").filter((line) => line !== "");
}

const withoutTime = (line: string): string => line.replace(/ 20\S+Z /, " TIME ");

test("changes are printed oldest first, values if they are asked for, in a form that moves no cursor", async () => {
  const [made, set, last] = zxids;
  expect((await run("text", "changes", "/a")).map(withoutTime)).toEqual([
    `${made} TIME CREATE2 version 0 3 bytes by 127.0.0.1`,
    `${set} TIME SET_DATA version 1 7 bytes by 127.0.0.1`,
    `${last} TIME SET_DATA version 2 1 byte by 127.0.0.1`,
  ]);
  const lines = (await run("text", "changes", "--data", "--after", made ?? "", "/a")).map(withoutTime);
  expect(lines).toEqual([
    expect.stringMatching(/SET_DATA version 1 7 bytes by 127.0.0.1 two.*\[2J$/),
    `${last} TIME SET_DATA version 2 1 byte by 127.0.0.1 0xff`,
  ]);
  expect(lines.join("")).not.toContain("\u001b");
  expect(await run("text", "changes", "--limit", "1", "/a")).toHaveLength(1);
});

test("changes of a subtree name their nodes", async () => {
  const lines = (await run("text", "changes", "-R", "--data", "/a")).map(withoutTime);
  expect(lines[0]).toBe(`${zxids[0]} TIME CREATE2 /a version 0 3 bytes by 127.0.0.1 one`);
  expect(lines.map((line) => line.split(" ")[3])).toEqual(["/a", "/a", "/a", "/a/c", "/a/b"]);
  const items = (await run("json", "changes", "-R", "/a")).map((line) => JSON.parse(line) as { item?: object });
  expect(items[3]?.item).toMatchObject({ path: "/a/c", op: "CREATE2" });
});

test("a change that could not be read then has no data, in both forms", async () => {
  const [line] = await run("json", "changes", "--data", "/hidden");
  expect(JSON.parse(line ?? "").item).toMatchObject({ isReadable: false, who: { address: "127.0.0.1" }, data: null });
  const [text = ""] = await run("text", "changes", "--data", "/hidden");
  expect(withoutTime(text)).toMatch(/ TIME CREATE2 version 0 by 127.0.0.1 \(not readable then\)$/);
});

test("a change of a node that the user does not administer has no client, in both forms", async () => {
  const [line] = await run("json", "changes", "--data", "/not-mine");
  expect(JSON.parse(line ?? "").item).toMatchObject({ isReadable: true, who: null, data: "shown" });
  const [text = ""] = await run("text", "changes", "--data", "/not-mine");
  expect(withoutTime(text)).toMatch(/ TIME CREATE2 version 0 5 bytes shown$/);
});

test("changes that are followed are those that were, and then those to come, until the limit", async () => {
  await using zk = await connect(server.connectString);
  await zk.create("/followed", "0");
  await using session = await Session.open(server.connectString, "text");
  const running = session.run("changes", "-R", "--follow", "--data", "--limit", "3", "/followed");
  await zk.set("/followed", "1");
  await zk.create("/followed/below", "2");
  const { stdout } = await running;
  expect(stdout.trim().split("\n").map(withoutTime)).toEqual([
    expect.stringContaining("CREATE2 /followed version 0 1 byte by 127.0.0.1 0"),
    expect.stringContaining("SET_DATA /followed version 1 1 byte by 127.0.0.1 1"),
    expect.stringContaining("CREATE2 /followed/below version 0 1 byte by 127.0.0.1 2"),
  ]);
});

test("changes are items in JSON", async () => {
  const items = (await run("json", "changes", "/a")).map((line) => JSON.parse(line) as { item?: object });
  expect(items[0]).toMatchObject({
    command: "changes",
    item: {
      kind: "change",
      path: "/a",
      zxid: zxids[0],
      op: "CREATE2",
      version: 0,
      data: "one",
      isReadable: true,
      who: { address: "127.0.0.1", identities: [] },
    },
  });
  expect(items[2]?.item).toMatchObject({ data: "/w==", encoding: "base64" });
  expect(items.at(-1)).toMatchObject({ path: "/a", changes: 3 });
});

/** The time of the last change of `/a` and its children. */
async function lastTime(): Promise<string> {
  const [, time = ""] = (await run("text", "changes", "-R", "/a")).at(-1)?.split(" ") ?? [];
  return time;
}

test("get prints a node behind a transaction", async () => {
  expect(await run("text", "get", "--at", zxids[0] ?? "", "/a")).toEqual(["one"]);
  expect(await run("text", "get", "--hex", "--at", await lastTime(), "/a")).toEqual(["ff"]);
  expect(await run("text", "get", "--hex", "--at", zxids[2] ?? "", "/a")).toEqual(["ff"]);
  const [json = ""] = await run("json", "get", "--at", zxids[0] ?? "", "/a");
  expect(JSON.parse(json)).toMatchObject({ path: "/a", data: "one", czxid: zxids[0], mzxid: zxids[0], version: 0 });
});

test("ls prints the children that a node had behind a transaction", async () => {
  expect(await run("text", "ls", "--at", zxids[0] ?? "", "/a")).toEqual(["[]"]);
  const last = await lastTime();
  expect(await run("text", "ls", "--at", last, "/a")).toEqual(["[b, c]"]);
  const [json = ""] = await run("json", "ls", "--at", last, "/a");
  expect(JSON.parse(json)).toMatchObject({ path: "/a", children: ["b", "c"] });
});

test.each<[string[], RegExp]>([
  [["ls", "-R", "--at", "0x1", "/"], /--at lists the children of a node of the past, without -s, -w, -R and --page/],
  [["ls", "--at", "0x7000000000", "/"], /HISTORY_GONE for \/a? ?\(it begins at 0x1 and ends at 0x[0-9a-f]+\)/],
  [["get", "--at", "now", "/a"], /--at takes a zxid like 0x300000007 or a time like 2026-05-31T23:59:00Z, found "now"/],
  [["get", "--at", "2026-13-31T00:00:00Z", "/a"], /--at takes a time like 2026-05-31T23:59:00Z, found "2026-13/],
  [["get", "-s", "--at", "0x1", "/a"], /--at prints the data of a node of the past, without -s and -w/],
  [["get", "--at", "0x7000000000", "/a"], /HISTORY_GONE for \/a? ?\(it begins at 0x1 and ends at 0x[0-9a-f]+\)/],
  ...["get", "ls"].flatMap((command): [string[], RegExp][] => [
    [
      [command, "--at", "1990-01-01T00:00:00Z", "/a"],
      /HISTORY_GONE for \/a \(the history begins after 0x0, at .*, and so later than 1990-01-01T00:00:00.000Z\)/,
    ],
    [
      [command, "--at", "2999-01-01T00:00:00Z", "/a"],
      /HISTORY_GONE for \/a \(the history ends at 0x[0-9a-f]+, at .*, and so earlier than 2999-01-01T00:00:00.000Z\)/,
    ],
  ]),
  [["changes", "--limit", "x", "/a"], /limit/],
])("%s is refused in a sentence", async (words, sentence) => {
  await using session = await Session.open(server.connectString, "text");
  const { stderr, stdout } = await session.run(...words);
  expect(stderr + stdout).toMatch(sentence);
});
