import { createHash } from "node:crypto";
import { type Client, connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Session } from "../../testing/session.ts";

let server: ZooidServer;
let session: Session;
let client: Client;
beforeAll(async () => {
  server = await startServer({ port: 0 });
  session = await Session.open(server.connectString);
  client = await connect(server.connectString);
  await client.create("/c", "root");
  await client.create("/c/a", "x".repeat(200_000));
  await client.create("/c/b", "y".repeat(200_000));
  await client.create("/c/b/deep", null, { acl: [{ perms: 1, scheme: "world", id: "anyone" }] });
  await client.create("/c/member", "me", { mode: "ephemeral" });
  await Promise.all(Array.from({ length: 450 }, (_, i) => client.create(`/c/a/n${i}`, `${i}`)));
});
afterAll(async () => {
  await client.close();
  await session[Symbol.asyncDispose]();
  await server.stop();
});

test("a subtree is copied with its data and access lists, in several transactions, without ephemerals", async () => {
  const copied = await session.run("cp", "/c", "/copy");
  expect([copied.stdout, copied.stderr, await copied.ended]).toEqual([
    "454 created, 401244 bytes of data, 1 ephemeral left out\n",
    "",
    0,
  ]);
  await client.delete("/c/member");
  const difference = await session.run("diff", "/c", "/copy");
  expect([difference.stdout, await difference.ended]).toEqual(["", 0]);
  expect((await client.getAcl("/copy/b/deep")).acl).toEqual([{ perms: 1, scheme: "world", id: "anyone" }]);
});

test("a target that exists is refused, and written over with --update", async () => {
  await client.create("/there", "old");
  const refused = await session.run("cp", "/c/b", "/there");
  expect([refused.stderr, await refused.ended]).toEqual(["Node already exists: /there\n", 1]);
  const updated = await session.run("cp", "--update", "/c/b", "/there");
  expect(updated.stdout).toBe("1 created, 1 updated, 200000 bytes of data, 0 ephemeral left out\n");
  expect(await client.getText("/there")).toBe("y".repeat(200_000));
});

test("a dry run writes nothing", async () => {
  const counted = await session.run("cp", "--dry-run", "/c/b", "/dry");
  expect(counted.stdout).toBe("would copy: 2 created, 200000 bytes of data, 0 ephemeral left out\n");
  expect(await client.exists("/dry")).toBeNull();
});

test.each([
  ["/c", "/c/b/x"],
  ["/c", "/c"],
  ["/", "/x"],
])("%s is not copied to %s, which would copy itself", async (from, to) => {
  const refused = await session.run("cp", from, to);
  expect([refused.stdout, await refused.ended]).toEqual(["", 1]);
});

describe("an access list without its password hashes", () => {
  const hash = createHash("sha1").update("alice:secret").digest("base64");
  const acl = [
    { perms: 31, scheme: "digest", id: `alice:${hash}` },
    { perms: 1, scheme: "world", id: "anyone" },
  ];
  const message = "Insufficient permission : /hidden/deep/node\n";
  beforeAll(async () => {
    for (const path of ["/hidden", "/hidden/a", "/hidden/deep"]) await client.create(path, "x");
    await client.create("/hidden/deep/node", "x", { acl });
    await client.create("/older");
  });

  /** Everything that a copy could have changed. */
  async function state(): Promise<unknown> {
    const listed = ["/", "/hidden", "/hidden/deep", "/older"].map((path) => client.children(path));
    return [await Promise.all(listed), await client.get("/older"), await client.exists("/hidden/deep/node")];
  }

  test.each([
    ["/hidden-copy", []],
    ["/hidden-copy", ["--dry-run"]],
    ["/hidden-copy", ["--update"]],
    ["/older", ["--update"]],
  ] as const)("is not copied to %s with %j, nor anything beside it", async (to, flags) => {
    const before = await state();
    const refused = await session.run("cp", ...flags, "/hidden", to);
    expect([refused.stdout, refused.stderr, await refused.ended]).toEqual(["", message, 1]);
    expect(await state()).toEqual(before);
  });

  test("is copied by a client that sees them", async () => {
    await using alice = await Session.open(server.connectString);
    expect(await (await alice.run("addauth", "digest", "alice:secret")).ended).toBe(0);
    const copied = await alice.run("cp", "/hidden", "/hidden-copy");
    expect([copied.stderr, await copied.ended]).toEqual(["", 0]);
    await using other = await connect(server.connectString, { auth: [{ scheme: "digest", auth: "alice:secret" }] });
    expect((await other.getAcl("/hidden-copy/deep/node")).acl).toEqual(acl);
  });
});

test("an access list without its password hashes behind copied nodes ends the copy, which says what remains", async () => {
  await client.create("/far");
  for (let i = 0; i < 3; i++) await client.create(`/far/${i}`, "x".repeat(200_000));
  await client.create("/far/9", null, {
    acl: [
      { perms: 31, scheme: "digest", id: "alice:AAAAAAAAAAAAAAAAAAAAAAAAAAA=" },
      { perms: 1, scheme: "world", id: "anyone" },
    ],
  });
  await using json = await Session.open(server.connectString, "json");
  const ended = await json.run("cp", "/far", "/far-copy");
  expect(ended.stdout + ended.stderr).toContain("is shown without its password hashes; the copied nodes remain");
  expect((await client.children("/far-copy")).names.sort()).toEqual(["0", "1"]);
});
