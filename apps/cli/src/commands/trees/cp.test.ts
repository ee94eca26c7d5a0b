import { type Client, connect } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
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

test("an access list without its password hashes is not copied", async () => {
  await client.create("/hidden", null, {
    acl: [
      { perms: 31, scheme: "digest", id: "alice:AAAAAAAAAAAAAAAAAAAAAAAAAAA=" },
      { perms: 1, scheme: "world", id: "anyone" },
    ],
  });
  const refused = await session.run("cp", "/hidden", "/hidden-copy");
  expect(await refused.ended).toBe(1);
  expect(await client.exists("/hidden-copy")).toBeNull();
});
