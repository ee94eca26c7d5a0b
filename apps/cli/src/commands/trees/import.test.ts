import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect, digestId } from "@zooid/client";
import { startServer } from "@zooid/embedded-server";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

type Server = Awaited<ReturnType<typeof startServer>>;

let zk: Server;
let client: Client;
let folder: string;
let file: string;
beforeEach(async () => {
  zk = await startServer({ port: 0 });
  client = await connect(zk.connectString);
  folder = mkdtempSync(join(tmpdir(), "zooid-import-"));
  file = join(folder, "subtree.jsonl");
});
afterEach(async () => {
  await client.close();
  await zk[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** Runs a command, and returns its status and its result or error. */
async function run(...words: readonly string[]): Promise<{ readonly status: number; readonly result: unknown }> {
  await using session = await Session.open(zk.connectString, "json");
  const command = await session.run(...words);
  const [result] = command.objects;
  return { status: await command.ended, result };
}

/** Paths below a node, with data, version and list of each. */
async function treeOf(root: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  const visit = async (path: string): Promise<void> => {
    const [{ data }, { acl }, { names }] = await Promise.all([
      client.get(path),
      client.getAcl(path),
      client.children(path),
    ]);
    found[path.slice(root.length)] =
      `${data === null ? null : Buffer.from(data).toString("latin1")} ${JSON.stringify(acl)}`;
    for (const name of [...names].sort()) await visit(`${path}/${name}`);
  };
  await visit(root);
  return found;
}

const LIST = [
  { scheme: "world", id: "anyone", perms: 1 },
  { scheme: "ip", id: "127.0.0.1", perms: 31 },
];
const EVE = digestId("eve", "password");

describe("export and import", () => {
  test("give the same subtree elsewhere, with data, lists, and missing ancestors, without ephemeral nodes", async () => {
    await client.create("/app", Buffer.of(0xff, 0));
    await client.create("/app/db", "host=ä\n", { acl: LIST });
    await client.create("/app/none", null);
    await client.create("/app/empty", "");
    await client.create("/app/db/deep", "x");
    await client.create("/app/mine", "", { mode: "ephemeral" });
    expect(await run("export", "/app", file)).toMatchObject({ status: 0, result: { nodes: 5, ephemerals: 1 } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await run("import", file, "/copies/of/app")).toMatchObject({ status: 0, result: { created: 5 } });
    const { "/mine": _, ...expected } = await treeOf("/app");
    expect(await treeOf("/copies/of/app")).toEqual(expected);
  });

  test("of more data than one transaction may have are written in several", async () => {
    await client.create("/app");
    for (let i = 0; i < 12; i++) await client.create(`/app/${i}`, Buffer.alloc(i < 6 ? 200_000 : 100_000, `${i}`));
    await client.create("/app/largest", Buffer.alloc(1_000_000, "x"));
    expect(await run("export", "/app", file)).toMatchObject({ status: 0, result: { nodes: 14 } });
    expect(await run("import", file, "/copy")).toMatchObject({ status: 0, result: { created: 14 } });
    expect(await treeOf("/copy")).toEqual(await treeOf("/app"));
  });

  test("write to stdout for people, and the result beside it", async () => {
    await client.create("/app", "text");
    await using session = await Session.open(zk.connectString);
    const command = await session.run("export", "/app");
    expect(command.stdout.split("\n").slice(1)).toEqual([
      '{"path":"","data":{"text":"text"},"acl":[{"scheme":"world","id":"anyone","permissions":["read","write","create","delete","admin"]}]}',
      '{"end":true,"nodes":1}',
      "",
    ]);
    expect(command.stderr).toBe("exported: 1 node, 4 bytes of data, 0 ephemeral left out\n");
    expect(await run("export", "/app")).toMatchObject({ status: 2 });
  });

  test("the whole tree goes out without the servers' own nodes, and comes into another one", async () => {
    await client.create("/a", "1");
    await client.create("/a/b", "2");
    expect(await run("export", "/", file)).toMatchObject({ status: 0, result: { nodes: 3 } });
    expect(readFileSync(file, "utf8")).not.toContain("zookeeper/");
    await using other = await startServer({ port: 0 });
    await using session = await Session.open(other.connectString, "json");
    expect((await session.run("import", file, "/")).objects).toMatchObject([{ created: 2, same: 1 }]);
  });

  test("subtrees of any shape come back equal, in whatever batches", async () => {
    const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d-1", "ü"), { maxLength: 4 });
    const data = fc.option(fc.uint8Array({ maxLength: 40 }), { nil: null });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ under: fc.nat(), names, data }), { maxLength: 12 }), async (steps) => {
        const paths = ["/from"];
        await client.create("/from");
        for (const step of steps) {
          const parent = paths[step.under % paths.length] ?? "/from";
          for (const name of step.names) {
            const path = `${parent}/${name}`;
            if (paths.includes(path)) continue;
            await client.create(path, step.data);
            paths.push(path);
          }
        }
        rmSync(file, { force: true });
        expect(await run("export", "/from", file)).toMatchObject({ status: 0, result: { nodes: paths.length } });
        expect(await run("import", file, "/to")).toMatchObject({ status: 0, result: { created: paths.length } });
        expect(await treeOf("/to")).toEqual(await treeOf("/from"));
        expect(await run("import", "--existing", "mirror", file, "/to")).toMatchObject({
          result: { created: 0, replaced: 0, same: paths.length, deleted: 0 },
        });
        await Promise.all(["/from", "/to"].map((path) => client.deleteTree(path)));
      }),
      { numRuns: 15 },
    );
  });

  test("containers and nodes with a time to live come in as such", async () => {
    writeFileSync(
      file,
      [
        '{"format":"zooid-subtree","version":1,"path":"/x","exportedAt":"2026-01-01T00:00:00.000Z"}',
        '{"path":"","data":null,"acl":null,"kind":"container"}',
        '{"path":"/t","data":{"text":"t"},"acl":null,"kind":"ttl","ttlMs":1000}',
        "",
      ].join("\n"),
    );
    await using own = await startServer({ port: 0, ttlNodes: true });
    await using session = await Session.open(own.connectString, "json");
    expect((await session.run("import", file, "/c")).objects).toMatchObject([{ created: 2 }]);
  });
});

describe("nodes that exist", () => {
  beforeEach(async () => {
    await client.create("/app", "root");
    await client.create("/app/same", "same");
    await client.create("/app/other", "of the file", { acl: LIST });
    await client.create("/app/new", "new");
    expect((await run("export", "/app", file)).status).toBe(0);
    await client.delete("/app/new");
    await client.set("/app/other", "changed");
    await client.setAcl("/app/other", [{ scheme: "world", id: "anyone", perms: 31 }]);
    await client.create("/app/more", "");
    await client.create("/app/more/below", "");
    await client.create("/app/held", "");
    await client.create("/app/held/mine", "", { mode: "ephemeral" });
  });

  test("are an error unless it is said what becomes of them, before anything is written", async () => {
    const before = await treeOf("/app");
    expect(await run("import", file, "/app")).toMatchObject({ status: 5, result: { error: { code: "NODE_EXISTS" } } });
    expect(await run("import", "--resume", file, "/app")).toMatchObject({ status: 5 });
    expect(await treeOf("/app")).toEqual(before);
  });

  test("are kept", async () => {
    expect(await run("import", "--existing", "keep", file, "/app")).toMatchObject({
      status: 0,
      result: { created: 1, replaced: 0, same: 2, kept: 1, deleted: 0 },
    });
    expect([await client.getText("/app/other"), await client.getText("/app/new")]).toEqual(["changed", "new"]);
  });

  test("get the data and the list of the file", async () => {
    expect(await run("import", "--existing", "replace", file, "/app")).toMatchObject({
      status: 0,
      result: { created: 1, replaced: 1, same: 2, deleted: 0 },
    });
    expect(await client.getText("/app/other")).toBe("of the file");
    expect((await client.getAcl("/app/other")).acl).toEqual(LIST);
    expect(await client.exists("/app/more")).not.toBeNull();
  });

  test("get the data first, where the list lets their importer write no more", async () => {
    const readers = join(folder, "readers.jsonl");
    await client.set("/app/other", "by a reader");
    await client.setAcl("/app/other", [{ scheme: "world", id: "anyone", perms: 17 }]);
    expect((await run("export", "/app", readers)).status).toBe(0);
    await client.setAcl("/app/other", [{ scheme: "world", id: "anyone", perms: 31 }]);
    await client.set("/app/other", "changed");
    expect(await run("import", "--existing", "replace", readers, "/app")).toMatchObject({ result: { replaced: 1 } });
    expect(await client.getText("/app/other")).toBe("by a reader");
    expect((await client.getAcl("/app/other")).acl).toMatchObject([{ perms: 17 }]);
  });

  test("are deleted by a mirror if the file lacks them, but for those that hold ephemeral nodes", async () => {
    expect(await run("import", "--existing", "mirror", "--dry-run", file, "/app")).toMatchObject({
      status: 0,
      result: { dryRun: true, created: 1, replaced: 1, deleted: 2, notDeleted: 1 },
    });
    expect(await client.exists("/app/more/below")).not.toBeNull();
    expect(await run("import", "--existing", "mirror", file, "/app")).toMatchObject({
      status: 0,
      result: { created: 1, replaced: 1, deleted: 2, notDeleted: 1 },
    });
    expect((await client.children("/app")).names).toEqual(expect.arrayContaining(["held", "new", "other", "same"]));
    expect(await client.exists("/app/more")).toBeNull();
  });

  test.each([
    ["--existing keep", "1 created, 0 replaced, 2 the same already, 1 kept, 3 bytes of data"],
    ["--existing replace", "1 created, 1 replaced, 2 the same already, 14 bytes of data"],
    [
      "--existing mirror",
      "1 created, 1 replaced, 2 the same already, 2 deleted, 1 not deleted, since they hold ephemeral nodes, 14 bytes of data",
    ],
  ])(
    "are counted apart in the last line of an import with %s, which has no count that is 0 for nothing",
    async (words, line) => {
      await using session = await Session.open(zk.connectString);
      const lastOf = async (...more: readonly string[]): Promise<string | undefined> =>
        (await session.run("import", ...words.split(" "), ...more, file, "/app")).stdout.trimEnd().split("\n").at(-1);
      expect(await lastOf("--dry-run")).toBe(`would import: ${line}`);
      expect(await lastOf()).toBe(line);
      await client.delete("/app/held/mine");
      await client.delete("/app/held");
      if (words === "--existing mirror") {
        expect(await lastOf()).toBe("0 created, 0 replaced, 4 the same already, 0 deleted, 0 bytes of data");
      }
    },
  );

  test("are passed over by an import that continues", async () => {
    const cut = readFileSync(file, "utf8").split("\n");
    await client.create("/copy", "root");
    await client.create("/copy/same", "same");
    expect(cut.length).toBe(7);
    expect(await run("import", "--resume", file, "/copy")).toMatchObject({
      status: 0,
      result: { created: 2, same: 2 },
    });
  });
});

test("identities of lists are changed, those with equals signs too, and lists are left out on request", async () => {
  const eve = { scheme: "digest", id: EVE, perms: 31 };
  await client.create("/app", "", { acl: [{ scheme: "world", id: "anyone", perms: 31 }, eve] });
  expect((await run("export", "/app", file)).status).toBe(0);
  const adam = digestId("adam", "password");
  const map = ["--map-acl", `digest:${EVE}=digest:${adam}`, "--map-acl", "world:anyone=ip:127.0.0.1"];
  expect(await run("import", ...map, file, "/mapped")).toMatchObject({ status: 0 });
  expect((await client.getAcl("/mapped")).acl.map(({ scheme, id }) => `${scheme}:${id}`)).toEqual([
    "ip:127.0.0.1",
    `digest:${adam}`,
  ]);
  expect(await run("import", "--without-acl", file, "/open")).toMatchObject({ status: 0 });
  expect((await client.getAcl("/open")).acl).toEqual([{ scheme: "world", id: "anyone", perms: 31 }]);
});

test("what may not be read is an error, which leaves no file, or is left out with all below it", async () => {
  await client.create("/app", "");
  await client.create("/app/closed", "", { acl: [{ scheme: "digest", id: EVE, perms: 31 }] });
  const half = [
    { scheme: "world", id: "anyone", perms: 1 },
    { scheme: "digest", id: EVE, perms: 31 },
  ];
  await client.create("/app/half", "", { acl: half });
  const refused = await run("export", "/app", file);
  expect(refused).toMatchObject({ status: 4, result: { error: { code: "NO_AUTH", path: "/app/closed" } } });
  expect(() => statSync(file)).toThrow("ENOENT");
  expect(await run("export", "--partial", "/app", file)).toMatchObject({
    status: 0,
    result: { nodes: 2, unreadable: 1 },
  });
});

const HEADER = '{"format":"zooid-subtree","version":1,"path":"/x","exportedAt":"2026-01-01T00:00:00.000Z"}';
const ROOT = '{"path":"","data":null,"acl":null}';

test.each([
  ["a file that is not there", undefined, /cannot read/],
  ["no subtree", ["hello"], /Line 1 is not JSON/],
  ["a file without a node", [HEADER], /has no node/],
  ["a file that is cut off", [HEADER.replace("}", ',"hasEnd":true}'), ROOT], /cut off/],
  [
    "a node before its parent",
    [HEADER, ROOT, '{"path":"/a/b","data":null}'],
    /line 3: the parent of \/a\/b is not before it/,
  ],
  ["no root", [HEADER, '{"path":"/a","data":null}'], /line 2: the first node is the root/],
  ["a node twice", [HEADER, ROOT, ROOT], /line 3: the file has another node/],
  ["a path that climbs", [HEADER, ROOT, '{"path":"/../a","data":null}'], /relative paths not allowed/],
  [
    "a hidden hash",
    [HEADER, `{"path":"","data":null,"acl":[${hidden()}]}`],
    /line 2: its access list was exported without/,
  ],
])("%s is refused before anything is written", async (_, lines, reason) => {
  if (lines !== undefined) writeFileSync(file, `${lines.join("\n")}\n`);
  const refused = await run("import", file, "/target");
  expect(refused).toMatchObject({ status: 2, result: { error: { message: expect.stringMatching(reason) } } });
  expect(await client.exists("/target")).toBeNull();
});

function hidden(): string {
  return '{"scheme":"digest","id":"eve:x","permissions":["read"]}';
}

test.each([
  [["import", "--existing", "all", "f", "/a"], /--existing takes keep, replace or mirror, found "all"/],
  [["import", "--existing", "mirror", "f", "/"], /mirror deletes what the file lacks/],
  [["import", "--map-acl", "eve", "f", "/a"], /--map-acl takes scheme:id=scheme:id, found "eve"/],
  [["import", "f", "a"], /Path must start with/],
  [["export", "/a", "b", "c"], /takes at most 2 operands/],
])("%j is refused with the reason", async (words, reason) => {
  expect(await run(...words)).toMatchObject({
    status: 2,
    result: { error: { message: expect.stringMatching(reason) } },
  });
});

test("writes over no file", async () => {
  writeFileSync(file, "mine");
  await client.create("/app");
  expect(await run("export", "/app", file)).toMatchObject({
    status: 2,
    result: { error: { code: "UNWRITABLE_FILE" } },
  });
  expect(readFileSync(file, "utf8")).toBe("mine");
});
