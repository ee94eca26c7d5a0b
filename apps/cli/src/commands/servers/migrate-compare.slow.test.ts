import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect, digestId } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { freePort } from "@zooid/wire/testing/free-ports";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

// Servers of ours stand for Apache's here: the trial apache-migrate has those.

const SUPER = "digest super:test";
/** The hash of the password `test`. */
const SUPER_DIGEST = "super:D/InIHSb7yEEbrWz8b9l71RjZJU=";
const USER = "digest alice:secret";
const CLOSED = [{ perms: 31, scheme: "digest", id: digestId("alice", "secret") }];

interface Started extends AsyncDisposable {
  readonly server: ZooidServer;
  readonly adminUrl: string;
}

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "zooid-compare-"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

async function start(name: string): Promise<Started> {
  const port = await freePort();
  const server = await startServer({
    port: 0,
    dataDir: join(place, name),
    superDigest: SUPER_DIGEST,
    admin: { port, address: "127.0.0.1", rateLimiterIntervalMs: 0 },
  });
  return {
    server,
    adminUrl: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function fill(zk: Client): Promise<void> {
  for (let i = 0; i < 50; i++) await zk.create(`/n${i}`, `value ${i}`);
  await zk.create("/null", null);
  await zk.create("/parent", "");
  for (let i = 0; i < 3; i++) await zk.create("/parent/s-", "", { mode: "persistent-sequential" });
  await zk.delete("/parent/s-0000000001");
  await zk.create("/parent/container", "", { mode: "container" });
  await zk.create("/é", "é");
}

/** A server with the whole state of another one. */
async function startCopy(of: Started, name: string): Promise<Started> {
  const copy = await start(name);
  const snapshot = await fetch(`${of.adminUrl}/commands/snapshot`, { headers: { authorization: SUPER } });
  const headers = { authorization: SUPER, "content-type": "application/octet-stream" };
  const body = await snapshot.arrayBuffer();
  const restored = await fetch(`${copy.adminUrl}/commands/restore`, { method: "POST", headers, body });
  expect(restored.status).toBe(200);
  return copy;
}

async function compare(...words: readonly string[]) {
  await using session = await Session.open("127.0.0.1:1", "json");
  const run = await session.run("migrate", "compare", ...words);
  return { status: await run.ended, result: run.objects[0] ?? {}, notes: run.stderr };
}

async function compareText(...words: readonly string[]) {
  await using session = await Session.open("127.0.0.1:1");
  const run = await session.run("migrate", "compare", ...words);
  return { status: await run.ended, lines: run.stdout.trim().split("\n") };
}

const toFollower = ({ server }: Started, { adminUrl }: Started): readonly string[] => [
  "--apache",
  server.connectString,
  "--follower",
  adminUrl,
  "--admin-auth",
  SUPER,
];

test("a server and its own state are equal, also while clients change it", async () => {
  await using one = await start("one");
  await using zk = await connect(one.server.connectString);
  await fill(zk);
  const stop = new AbortController();
  const changing = (async () => {
    for (let i = 0; !stop.signal.aborted; i++) {
      await zk.set("/n1", `${i}`);
      await zk.create("/parent/hot-", "", { mode: "ephemeral-sequential" });
    }
  })();
  const busy = await compare(...toFollower(one, one));
  stop.abort();
  await changing;
  expect(busy.result).toMatchObject({ compared: true, differenceCount: 0, failed: [] });
  const quiet = await compare(...toFollower(one, one));
  expect(quiet).toMatchObject({ status: 0, result: { equal: true, rounds: 0 } });
  expect(Number(quiet.result["nodes"])).toBeGreaterThan(55);
});

describe("a copy", () => {
  let first: Started;
  let copy: Started;
  let there: Client;
  let here: Client;
  beforeEach(async () => {
    first = await start("first");
    there = await connect(first.server.connectString);
    await fill(there);
    await there.addAuth("digest", "alice:secret");
    copy = await startCopy(first, "copy");
    here = await connect(copy.server.connectString);
  });
  afterEach(async () => {
    await Promise.all([there.close(), here.close()]);
    await Promise.all([first[Symbol.asyncDispose](), copy[Symbol.asyncDispose]()]);
  });

  test("is equal, by its admin port and by its client port", async () => {
    expect(await compare(...toFollower(first, copy))).toMatchObject({ status: 0, result: { equal: true } });
    const byPort = ["--apache", first.server.connectString, "--zooid", copy.server.connectString];
    expect(await compare(...byPort)).toMatchObject({ status: 0, result: { equal: true } });
    expect((await compareText(...byPort)).lines).toEqual([
      expect.stringMatching(/^1 server, \d+ nodes, up to 0x.*: equal$/),
    ]);
  });

  test("differs by data, list, version, missing and further nodes, each with field and values", async () => {
    await here.set("/n1", "value 2");
    await here.setAcl("/n2", [{ perms: 1, scheme: "world", id: "anyone" }]);
    await here.delete("/n3");
    await here.create("/further", "");
    await there.set("/n4", "value 4");
    const { status, result } = await compare(...toFollower(first, copy), "--data");
    expect([status, result["equal"], result["differenceCount"]]).toEqual([1, false, 6]);
    const differences = new Map(
      (result["differences"] as { path: string; fields: { field: string; atServer: string; atOther: string }[] }[]).map(
        (each) => [each.path, each],
      ),
    );
    const fieldsOf = (path: string) => differences.get(path)?.fields.map(({ field }) => field);
    expect(fieldsOf("/n1")).toEqual(["version", "mzxid", "mtime", "data"]);
    expect(differences.get("/n1")).toMatchObject({
      dataAtServer: { data: "value 1" },
      dataAtOther: { data: "value 2" },
    });
    expect(fieldsOf("/n2")).toEqual(["aversion", "acl"]);
    expect(differences.get("/n2")?.fields[1]).toMatchObject({ atOther: '[[1,"world","anyone"]]' });
    expect(differences.get("/n3")?.fields).toEqual([
      { field: "node", atServer: expect.stringMatching(/^created by 0x/), atOther: "absent" },
    ]);
    expect(differences.get("/further")?.fields).toMatchObject([{ field: "node", atServer: "absent" }]);
    expect(fieldsOf("/n4")).toEqual(["version", "mzxid", "mtime"]);
    expect(fieldsOf("/")).toEqual(["pzxid", "cversion"]);
  });

  test("is listed up to a limit, and counted", async () => {
    for (let i = 0; i < 5; i++) await here.set(`/n${i}`, "another");
    const { status, lines } = await compareText(...toFollower(first, copy), "--limit", "1");
    expect(status).toBe(1);
    expect(lines[0]).toMatch(/^! \/n\d$/);
    expect(lines.find((line) => line.startsWith("  data: "))).toMatch(
      /^ {2}data: 7 bytes, SHA-256 [0-9a-f]{64} at 127.*7 bytes/,
    );
    expect(lines.slice(-2)).toEqual([
      "and 4 differences more; --limit lists them",
      expect.stringMatching(/: 5 differences$/),
    ]);
  });

  test("is not called equal where nodes may not be read, unless credentials are given", async () => {
    await there.create("/closed", "", { acl: CLOSED });
    await there.create("/closed/below", "");
    await using other = await startCopy(first, "other");
    const without = await compare(...toFollower(first, other));
    expect(without).toMatchObject({
      status: 3,
      result: {
        equal: false,
        differenceCount: 0,
        notCompared: { unread: { count: 1, path: "/closed" }, belowUnread: { count: 1, path: "/closed/below" } },
      },
    });
    expect(await compare(...toFollower(first, other), "--auth", USER)).toMatchObject({ status: 0 });
  });

  test("is not called equal where lists are shown without their hashes", async () => {
    await there.create("/shown", "", { acl: [...CLOSED, { perms: 1, scheme: "world", id: "anyone" }] });
    await using other = await startCopy(first, "other");
    expect(await compare(...toFollower(first, other))).toMatchObject({
      status: 3,
      result: { differenceCount: 0, notCompared: { hiddenLists: { count: 1, path: "/shown" } } },
    });
  });

  test("is compared with the servers that answer, and the others are named", async () => {
    const absent = `127.0.0.1:${await freePort()}`;
    const words = [
      "--apache",
      `${first.server.connectString},${absent}`,
      "--follower",
      copy.adminUrl,
      "--admin-auth",
      SUPER,
    ];
    expect(await compare(...words)).toMatchObject({
      status: 3,
      result: { differenceCount: 0, failed: [{ server: absent, reason: expect.stringMatching(/./) }] },
    });
  });
});

test.each<[string, (one: Started) => readonly string[], RegExp]>([
  ["without credentials", ({ adminUrl }) => ["--follower", adminUrl], /Auth info is missing/],
  [
    "with wrong ones",
    ({ adminUrl }) => ["--follower", adminUrl, "--admin-auth", "digest super:no"],
    /Not authori[sz]ed|Not authenticated/,
  ],
  [
    "at a port where nothing listens",
    () => ["--follower", "http://127.0.0.1:1"],
    /no answer from the admin port|never asks/,
  ],
  ["at another service", ({ adminUrl }) => ["--follower", `${adminUrl}/elsewhere`, "--admin-auth", SUPER], /./],
])("a follower %s ends with status 3 and the reason", async (_, words, reason) => {
  await using one = await start("one");
  const { status, result } = await compare("--apache", one.server.connectString, ...words(one));
  expect([status, result["compared"]]).toEqual([3, false]);
  expect((result["failed"] as { reason: string }[])[0]?.reason).toMatch(reason);
});

test.each([
  [["--follower", "http://127.0.0.1:1"]],
  [["--apache", "a"]],
  [["--apache", "a", "--follower", "http://127.0.0.1:1", "--zooid", "b"]],
  [["--apache", "a/b", "--zooid", "b"]],
  [["--apache", "a", "--zooid", "b,c"]],
  [["--apache", "a", "--follower", "b"]],
  [["--apache", "a", "--zooid", "b", "--limit", "10001"]],
  [["--apache", "a", "--zooid", "b", "--sids", "1"]],
  [["a", "--apache", "a", "--zooid", "b"]],
])("%s is refused", async (words) => {
  expect(await compare(...words)).toMatchObject({ status: 2 });
});
